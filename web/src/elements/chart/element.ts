/** `ui-chart`: draws a Lua list with ECharts; for screen readers and tools the same numbers are a table. */
import { BarChart, LineChart } from "echarts/charts";
import { GridComponent } from "echarts/components";
import { init, use, type EChartsType } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { iconButton, make, styleSheet, UiElement } from "../base";
import { type Look, optionsFor } from "./options";
import { countOf, described, plotOf, pointAt, type Plot, type Points, received, type Sent, summary, withUnit } from "./points";
import css from "./chart.css?inline";

use([BarChart, LineChart, GridComponent, CanvasRenderer]);

const sheet = styleSheet(css);
const SAVE = "M8 2v8m0 0 3-3m-3 3L5 7M2.5 13.5h11";
const LIGHT = ["#c2410c", "#0f766e", "#9333ea", "#b45309", "#be185d", "#4d7c0f", "#0369a1"];
const DARK = ["#fb923c", "#2dd4bf", "#c084fc", "#fbbf24", "#f472b6", "#a3e635", "#38bdf8"];
const TABLE_LATER_MS = 250;
const ROWS_FOR_READERS = 20;

/** These are drawn before the rest of ECharts has come, which then brings their tooltips. */
const FIRST = ["line", "area", "bar", "stacked", "sparkline", ""];
let rest: Promise<void> | null = null;
let complete = false;

function loadRest(): Promise<void> {
  return (rest ??= import("./rest").then(({ register }) => {
    register();
    complete = true;
  }));
}

class UiChart extends UiElement {
  private points: Points | null = null;
  private chart: EChartsType | null = null;
  private at = -1;
  private readonly canvas = make("div.canvas", { role: "img", tabindex: 0 });
  private readonly save = iconButton("Download picture", SAVE, () => this.download());
  private readonly state = make("div.state", { role: "status" });
  private readonly table = make("table");
  private readonly live = make("div.quiet", { "aria-live": "polite" });
  private tableLater = 0;
  private readonly resized = new ResizeObserver(() => this.fit());
  private readonly themed = new MutationObserver(() => this.draw());
  private readonly scheme = matchMedia("(prefers-color-scheme: dark)");
  private readonly onScheme = (): void => this.draw();

  constructor() {
    super(sheet);
    this.root.append(this.save, this.canvas, this.state, make("div.quiet", {}, this.table), this.live);
    this.canvas.addEventListener("keydown", (event) => this.onKey(event));
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.resized.observe(this.canvas);
    this.themed.observe(document.documentElement, { attributes: true, attributeFilter: ["class"] });
    this.scheme.addEventListener("change", this.onScheme);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.resized.disconnect();
    this.themed.disconnect();
    this.scheme.removeEventListener("change", this.onScheme);
    clearTimeout(this.tableLater);
    this.tableLater = 0;
    this.chart?.dispose();
    this.chart = null;
  }

  protected override received(value: unknown): void {
    if (typeof value === "object" && value !== null) {
      this.points = received(this.points, value as Sent);
      this.draw();
    }
  }

  protected render(): void {
    const { points } = this;
    const type = this.option("type", "line");
    const empty = points === null || countOf(points) === 0;
    this.canvas.hidden = empty;
    this.save.hidden = empty || !this.hasAttribute("download");
    this.state.hidden = !empty;
    this.state.textContent = points === null ? "Loading…" : empty ? this.option("empty", "Nothing to show yet.") : "";
    this.table.hidden = empty;
    if (points === null || empty) {
      return;
    }
    const plot = this.plot(points);
    this.canvas.style.height = this.option("height", type === "sparkline" ? "2.5rem" : "18rem");
    const missing = plot.series.length === 0;
    if (missing) {
      this.canvas.hidden = true;
      this.state.hidden = false;
      this.state.textContent = `No numbers to show among ${points.names.join(", ")}.`;
      return;
    }
    this.canvas.setAttribute("aria-label", summary(type, this.option("label", "Chart"), plot, this.option("unit")));
    if (!complete) {
      void loadRest().then(() => this.draw());
      if (!FIRST.includes(type) || plot.series.length > 1 || this.hasAttribute("zoom")) {
        return;
      }
    }
    this.showTable(plot);
    this.chart ??= this.open();
    this.chart.setOption(optionsFor(points, plot, this.asked(type), this.look()), { notMerge: !this.keepsZoom(), lazyUpdate: false });
    this.canvas.dataset["points"] = String(countOf(points));
  }

  private plot(points: Points): Plot {
    const by = this.option("type") === "heatmap" ? [this.option("by")] : [];
    const series = this.option("series").split(/[\s,]+/).filter(Boolean);
    const plot = plotOf(points, { x: this.option("x"), series });
    return { ...plot, series: plot.series.filter(({ name }) => !by.includes(name)) };
  }

  private asked(type: string): Parameters<typeof optionsFor>[2] {
    const number = (name: string): number | null => (this.hasAttribute(name) ? Number(this.option(name)) : null);
    return { type, unit: this.option("unit"), min: number("min"), max: number("max"), horizontal: this.hasAttribute("horizontal"), zoom: this.hasAttribute("zoom"), by: this.option("by"), width: this.canvas.clientWidth, height: this.canvas.clientHeight };
  }

  /** What the person has zoomed to stays while points are added. */
  private keepsZoom(): boolean {
    return this.hasAttribute("zoom") && this.chart !== null;
  }

  /** Follow the size; a chart that was just drawn has it already, and drawing again takes as long as the first time. */
  private fit(): void {
    const { chart, canvas } = this;
    if (chart !== null && (chart.getWidth() !== canvas.clientWidth || chart.getHeight() !== canvas.clientHeight)) {
      chart.resize();
      this.draw();
    }
  }

  private open(): EChartsType {
    const chart = init(this.canvas, null, { renderer: "canvas" });
    chart.on("click", (event) => this.press(event.dataIndex));
    return chart;
  }

  private press(index: number): void {
    if (this.points !== null && index < countOf(this.points)) {
      this.tell("select", pointAt(this.points, index));
    }
  }

  private look(): Look {
    const style = getComputedStyle(this);
    const read = (name: string): string => style.getPropertyValue(name).trim();
    const dark = style.colorScheme === "dark" || read("color-scheme") === "dark";
    return {
      palette: [read("--term-accent"), ...(dark ? DARK : LIGHT)], text: read("--term-text"), muted: read("--term-text-muted"),
      border: read("--term-border"), surface: read("--term-bg-elevated"), font: read("--term-sans"),
    };
  }

  /** Few points at once; many after the picture, and not with every point that comes: the table takes as long as the picture. */
  private showTable(plot: Plot): void {
    if (plot.places.length <= ROWS_FOR_READERS) {
      this.drawTable(plot);
    } else if (this.tableLater === 0) {
      this.tableLater = window.setTimeout(() => {
        this.tableLater = 0;
        if (this.points !== null) {
          this.drawTable(this.plot(this.points));
        }
      }, TABLE_LATER_MS);
    }
  }

  /** The last points as a table, for screen readers and for tools that read the page. */
  private drawTable({ places, series }: Plot): void {
    const from = Math.max(0, places.length - ROWS_FOR_READERS);
    const label = this.option("label", "Chart");
    const caption = make("caption", {}, from > 0 ? `${label}, the last ${places.length - from} of ${places.length} points` : label);
    const head = make("tr", {}, make("th", { scope: "col" }, this.option("x", "Point")), ...series.map(({ name }) => make("th", { scope: "col" }, name)));
    const rows = places.slice(from).map((place, at) =>
      make("tr", {}, make("td", {}, place), ...series.map(({ values }) => make("td", {}, withUnit(values[from + at] ?? null, this.option("unit"))))),
    );
    this.table.replaceChildren(caption, make("thead", {}, head), make("tbody", {}, ...rows));
  }

  private onKey(event: KeyboardEvent): void {
    const { points, chart } = this;
    if (points === null || chart === null) {
      return;
    }
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step !== undefined) {
      this.at = Math.max(0, Math.min(countOf(points) - 1, this.at + step));
      chart.dispatchAction({ type: "showTip", seriesIndex: 0, dataIndex: this.at });
      this.live.textContent = described(this.plot(points), this.at, this.option("unit"));
    } else if (event.key === "Enter" && this.at >= 0) {
      this.press(this.at);
    } else if (this.hasAttribute("zoom") && ["+", "-"].includes(event.key)) {
      this.zoom(chart, event.key === "+" ? 0.5 : 2);
    } else {
      return;
    }
    event.preventDefault();
  }

  private zoom(chart: EChartsType, factor: number): void {
    const { dataZoom } = chart.getOption() as { dataZoom?: { start: number; end: number }[] };
    const { start, end } = dataZoom?.[0] ?? { start: 0, end: 100 };
    const middle = (start + end) / 2;
    const half = Math.min(50, ((end - start) / 2) * factor);
    chart.dispatchAction({ type: "dataZoom", start: Math.max(0, middle - half), end: Math.min(100, middle + half) });
  }

  private download(): void {
    const name = this.option("label", "chart").toLowerCase().replace(/[^\w-]+/g, "-");
    const url = this.chart?.getDataURL({ type: "png", pixelRatio: 2, backgroundColor: this.look().surface });
    if (url !== undefined) {
      make("a", { href: url, download: `${name}.png` }).click();
    }
  }
}

customElements.define("ui-chart", UiChart);
