import { expect, it } from "vitest";
import { featuresOf, fitting, pathOf, project, zoomed } from "../../../src/elements/map/geometry";

it("projects as web maps do", () => {
  expect(project([0, 0])).toEqual([0.5, 0.5]);
  expect(project([180, 85.0511])[1]).toBeCloseTo(0, 4);
  expect(project([0, 89])[1]).toBeCloseTo(0, 4);
});

it("reads collections, geometries and rows with places", () => {
  const square = [[[0, 0], [10, 0], [10, 10], [0, 0]]];
  const value = {
    type: "FeatureCollection",
    features: [
      { type: "Feature", properties: { name: "A" }, geometry: { type: "Polygon", coordinates: square } },
      { type: "Feature", properties: null, geometry: { type: "GeometryCollection", geometries: [{ type: "Point", coordinates: [1, 2] }, { type: "LineString", coordinates: [[0, 0], [1, 1]] }] } },
    ],
  };
  expect(featuresOf(value).map(({ shapes }) => shapes.map(({ kind }) => kind))).toEqual([["area"], ["point", "line"]]);
  expect(featuresOf([{ name: "Paris", lat: 48, lon: 2 }, { nothing: 1 }])).toHaveLength(1);
  expect(featuresOf("text")).toEqual([]);
});

it("shows everything at first, and zooms about a point", () => {
  const view = fitting(featuresOf([{ lat: 10, lon: 10 }, { lat: 20, lon: 30 }]), 2);
  expect(view.w / view.h).toBeCloseTo(2);
  const near = zoomed(view, 0.5, 0, 0);
  expect([near.x, near.y, near.w]).toEqual([view.x, view.y, view.w / 2]);
  expect(pathOf({ kind: "area", parts: [[[0, 0], [1, 1]]] }, (x) => x * 10, (y) => y * 10)).toBe("M0.0 0.0L10.0 10.0Z");
});
