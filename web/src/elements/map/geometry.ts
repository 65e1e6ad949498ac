/** GeoJSON as shapes on a flat map (Mercator); pure. */

type Position = readonly number[];

export interface Shape {
  readonly kind: "point" | "line" | "area";
  /** Rings or lines of points on the unit square of the globe, y downwards. */
  readonly parts: readonly (readonly (readonly [number, number])[])[];
}

export interface Feature {
  readonly shapes: readonly Shape[];
  readonly properties: Readonly<Record<string, unknown>>;
  readonly source: Readonly<Record<string, unknown>>;
}

const LIMIT = 85.0511;

export function project([longitude = 0, latitude = 0]: Position): [number, number] {
  const radians = (Math.max(-LIMIT, Math.min(LIMIT, latitude)) * Math.PI) / 180;
  return [(longitude + 180) / 360, (1 - Math.log(Math.tan(radians) + 1 / Math.cos(radians)) / Math.PI) / 2];
}

type Table = Readonly<Record<string, unknown>>;
const isTable = (value: unknown): value is Table => typeof value === "object" && value !== null && !Array.isArray(value);

/** Read a FeatureCollection, a feature, a geometry, a list of these, or rows with `lat` and `lon`. */
export function featuresOf(value: unknown): Feature[] {
  if (Array.isArray(value)) {
    return value.flatMap(featuresOf);
  }
  if (!isTable(value)) {
    return [];
  }
  if (value["type"] === "FeatureCollection") {
    return featuresOf(value["features"]);
  }
  if (value["type"] === "Feature") {
    return [{ shapes: shapesOf(value["geometry"]), properties: isTable(value["properties"]) ? value["properties"] : {}, source: value }];
  }
  const [lat, lon] = [value["lat"] ?? value["latitude"], value["lon"] ?? value["lng"] ?? value["longitude"]];
  if (typeof lat === "number" && typeof lon === "number") {
    return [{ shapes: [{ kind: "point", parts: [[project([lon, lat])]] }], properties: value, source: value }];
  }
  const shapes = shapesOf(value);
  return shapes.length > 0 ? [{ shapes, properties: value, source: value }] : [];
}

function shapesOf(geometry: unknown): Shape[] {
  if (!isTable(geometry)) {
    return [];
  }
  const at = geometry["coordinates"];
  switch (geometry["type"]) {
    case "Point":
      return [{ kind: "point", parts: [[project(at as Position)]] }];
    case "MultiPoint":
      return [{ kind: "point", parts: (at as Position[]).map((one) => [project(one)]) }];
    case "LineString":
      return [{ kind: "line", parts: [(at as Position[]).map(project)] }];
    case "MultiLineString":
      return [{ kind: "line", parts: (at as Position[][]).map((line) => line.map(project)) }];
    case "Polygon":
      return [{ kind: "area", parts: (at as Position[][]).map((ring) => ring.map(project)) }];
    case "MultiPolygon":
      return [{ kind: "area", parts: (at as Position[][][]).flat().map((ring) => ring.map(project)) }];
    case "GeometryCollection":
      return Array.isArray(geometry["geometries"]) ? geometry["geometries"].flatMap(shapesOf) : [];
    default:
      return [];
  }
}

export interface View {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** The part of the globe that holds all features, with a margin, in the proportions of the window. */
export function fitting(features: readonly Feature[], ratio: number): View {
  const points = features.flatMap(({ shapes }) => shapes.flatMap(({ parts }) => parts.flat()));
  if (points.length === 0) {
    return { x: 0, y: 0.5 - 0.5 / ratio, w: 1, h: 1 / ratio };
  }
  const [left, top] = points.reduce(([x, y], [a, b]) => [Math.min(x, a), Math.min(y, b)], [Infinity, Infinity]);
  const [right, bottom] = points.reduce(([x, y], [a, b]) => [Math.max(x, a), Math.max(y, b)], [-Infinity, -Infinity]);
  const [width, height] = [Math.max(right - left, 1e-5) * 1.3, Math.max(bottom - top, 1e-5) * 1.3];
  const w = Math.max(width, height * ratio);
  return { x: (left + right - w) / 2, y: (top + bottom - w / ratio) / 2, w, h: w / ratio };
}

export function zoomed({ x, y, w, h }: View, factor: number, atX = 0.5, atY = 0.5): View {
  const scale = Math.max(1e-6 / w, Math.min(2 / w, factor));
  return { x: x + w * atX * (1 - scale), y: y + h * atY * (1 - scale), w: w * scale, h: h * scale };
}

export function pathOf({ parts, kind }: Shape, toX: (x: number) => number, toY: (y: number) => number): string {
  return parts.map((points) => `M${points.map(([x, y]) => `${toX(x).toFixed(1)} ${toY(y).toFixed(1)}`).join("L")}${kind === "area" ? "Z" : ""}`).join("");
}
