/** `ui-map`: GeoJSON drawn without tiles, so that nothing is fetched; moved and zoomed by pointer and keyboard. */
import { iconButton, make, plainText, styleSheet, UiElement } from "../base";
import { ICON } from "../icons";
import { reference, textFields } from "../items";
import { type Feature, featuresOf, fitting, pathOf, type Shape, type View, zoomed } from "./geometry";
import css from "./map.css?inline";

const sheet = styleSheet(css);
const SVG = "http://www.w3.org/2000/svg";

function svg(tag: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = document.createElementNS(SVG, tag);
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, String(value)));
  return made;
}

class UiMap extends UiElement {
  private readonly canvas = svg("svg", { role: "group", tabindex: 0 });
  private readonly state = make("div.state", { role: "status" });
  private features: Feature[] = [];
  private view: View | null = null;
  private known = "";
  private readonly resized = new ResizeObserver(() => this.draw());

  constructor() {
    super(sheet);
    const buttons = make("div.buttons", {}, iconButton("Zoom in", ICON.plus, () => this.zoom(0.6)), iconButton("Zoom out", ICON.minus, () => this.zoom(1.6)));
    const all = make("button", { type: "button" }, "All");
    all.addEventListener("click", () => this.look(null));
    buttons.append(all);
    this.root.append(buttons, make("div.frame", {}, this.canvas), this.state);
    this.canvas.addEventListener("keydown", (event) => this.onKey(event));
    this.canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => this.onPointer(event));
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.resized.observe(this.canvas);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.resized.disconnect();
  }

  private size(): { width: number; height: number } {
    return { width: Math.max(1, this.canvas.clientWidth), height: Math.max(1, this.canvas.clientHeight) };
  }

  private nameOf(feature: Feature): string {
    return textFields(feature.properties, this.option("text")) || "Feature";
  }

  protected render(): void {
    const { value } = this;
    const text = typeof value === "string" ? value : JSON.stringify(value ?? null);
    if (text !== this.known) {
      this.known = text;
      this.features = parsed(value);
      this.view = null;
    }
    this.canvas.style.height = this.option("height", "20rem");
    this.canvas.setAttribute("aria-label", `${this.option("label", "Map")}, ${this.features.length} features`);
    this.state.hidden = this.features.length > 0;
    this.state.textContent = this.features.length > 0 ? "" : this.option("empty", "Nothing to show yet.");
    const { width, height } = this.size();
    const { x, y, w, h } = (this.view ??= fitting(this.features, width / height));
    const [toX, toY] = [(at: number): number => ((at - x) / w) * width, (at: number): number => ((at - y) / h) * height];
    const focused = (this.root.activeElement as SVGElement | null)?.dataset["at"];
    this.canvas.replaceChildren(...this.features.map((feature, at) => this.drawn(feature, at, toX, toY)));
    this.canvas.querySelector<SVGElement>(`[data-at="${focused ?? ""}"]`)?.focus();
  }

  private drawn(feature: Feature, at: number, toX: (x: number) => number, toY: (y: number) => number): SVGElement {
    const name = this.nameOf(feature);
    const group = svg("g", { class: "feature", role: "button", tabindex: 0, "data-at": at, "aria-label": name });
    const color = plainText(feature.properties["color"]);
    if (color !== "") {
      group.style.setProperty("--feature", color);
    }
    group.append(...feature.shapes.flatMap((shape) => (shape.kind === "point" ? points(shape, toX, toY) : [svg("path", { class: shape.kind, d: pathOf(shape, toX, toY) })])));
    const [first] = feature.shapes;
    const place = first?.kind === "point" ? first.parts[0]?.[0] : undefined;
    if (place !== undefined) {
      const label = svg("text", { x: toX(place[0]) + 9, y: toY(place[1]) + 4 });
      label.textContent = name;
      group.append(label);
    }
    const title = svg("title", {});
    title.textContent = name;
    group.prepend(title);
    group.addEventListener("click", () => this.select(feature));
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        event.stopPropagation();
        this.select(feature);
      }
    });
    return group;
  }

  private select({ source, properties }: Feature): void {
    this.tell("select", reference(source) ?? properties);
  }

  private look(view: View | null): void {
    this.view = view;
    this.draw();
  }

  private zoom(factor: number, atX = 0.5, atY = 0.5): void {
    if (this.view !== null) {
      this.look(zoomed(this.view, factor, atX, atY));
    }
  }

  private pan(right: number, down: number): void {
    if (this.view !== null) {
      this.look({ ...this.view, x: this.view.x + this.view.w * right, y: this.view.y + this.view.h * down });
    }
  }

  private onKey(event: KeyboardEvent): void {
    const acts: Readonly<Record<string, () => void>> = {
      "+": () => this.zoom(0.6), "-": () => this.zoom(1.6), "0": () => this.look(null),
      ArrowLeft: () => this.pan(-0.15, 0), ArrowRight: () => this.pan(0.15, 0), ArrowUp: () => this.pan(0, -0.15), ArrowDown: () => this.pan(0, 0.15),
    };
    const act = acts[event.key];
    if (act !== undefined) {
      event.preventDefault();
      act();
    }
  }

  /** Only with Ctrl, or the map would catch who scrolls the page. */
  private onWheel(event: WheelEvent): void {
    if (event.ctrlKey) {
      event.preventDefault();
      const { left, top, width, height } = this.canvas.getBoundingClientRect();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, (event.clientX - left) / width, (event.clientY - top) / height);
    }
  }

  private onPointer(event: PointerEvent): void {
    const { view } = this;
    const { width, height } = this.size();
    if (view === null || event.button !== 0) {
      return;
    }
    const follow = (now: PointerEvent): void => this.look({ ...view, x: view.x - ((now.clientX - event.clientX) / width) * view.w, y: view.y - ((now.clientY - event.clientY) / height) * view.h });
    const stop = (): void => {
      removeEventListener("pointermove", follow);
      removeEventListener("pointerup", stop);
    };
    addEventListener("pointermove", follow);
    addEventListener("pointerup", stop);
  }
}

function points({ parts }: Shape, toX: (x: number) => number, toY: (y: number) => number): SVGElement[] {
  return parts.flat().map(([x, y]) => svg("circle", { class: "point", cx: toX(x).toFixed(1), cy: toY(y).toFixed(1), r: 6 }));
}

function parsed(value: unknown): Feature[] {
  try {
    return featuresOf(typeof value === "string" ? JSON.parse(value) : value);
  } catch {
    return [];
  }
}

customElements.define("ui-map", UiMap);
