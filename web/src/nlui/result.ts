/** Renders a tool's result by its shape: table, card, badges, media or text, with a switch to the raw JSON. */
import { markdown } from "../chat/markdown";
import { api } from "./api";
import { cell, short } from "./cells";
import { chartView, isChartable } from "./chart";
import { button, make } from "./dom";

type Row = Readonly<Record<string, unknown>>;
const COLUMNS = 10;
const ROWS = 100;
const BADGES = 50;
const HANDLE = /^([0-9a-f]{32})$/;
const FILE = /^\[resource nlui:\/\/results\/([0-9a-f]{32})\]$/;

export function resultView(value: unknown): HTMLElement {
  const parsed = parse(value);
  const handle = handleOf(parsed);
  const place = make("div");
  const show = (found: unknown): void => {
    const raw = make("pre.nlui-raw", { tabindex: "0", "aria-label": "Raw result" });
    raw.hidden = true;
    const shown = view(found);
    const toggle = button("Raw", () => {
      raw.textContent ||= typeof found === "string" ? found : JSON.stringify(found, null, 2);
      raw.hidden = !raw.hidden;
      shown.hidden = !raw.hidden;
      toggle.textContent = raw.hidden ? "Raw" : "View";
    }, "nlui-small");
    toggle.title = "Switch between the view and the JSON";
    const rows = rowsOf(found);
    place.replaceChildren(shown, raw, make("div.nlui-row", {}, toggle, rows && isChartable(rows) ? chartSwitch(rows, place) : null, handle && found === parsed ? whole(handle, show) : null));
  };
  show(parsed);
  return make("div.nlui-result", {}, place);
}

/** The rows that a result is shown as. */
function rowsOf(value: unknown): readonly Row[] | null {
  const lists = isRow(value) ? Object.values(value).filter(isRows) : [value].filter(isRows);
  return lists.length === 1 ? (lists[0] ?? null) : null;
}

/** The button that adds a chart of rows below them, or takes it away. */
function chartSwitch(rows: readonly Row[], place: HTMLElement): HTMLElement {
  let chart: HTMLElement | null = null;
  const toggle = button("Chart", () => {
    if (chart) {
      chart.remove();
      chart = null;
    } else {
      chart = chartView(rows);
      place.append(chart);
    }
    toggle.setAttribute("aria-pressed", String(chart !== null));
  }, "nlui-small");
  toggle.setAttribute("aria-pressed", "false");
  return toggle;
}

/** The button that loads a result which was cut for the model. */
function whole(handle: string, show: (found: unknown) => void): HTMLElement {
  const load = button("Show everything", () => {
    load.disabled = true;
    api.result(handle).then(show, (error: unknown) => {
      load.textContent = error instanceof Error ? error.message : "The rest is no longer stored. Repeat the call.";
    });
  }, "nlui-small");
  return load;
}

function handleOf(value: unknown): string | null {
  const handle = isRow(value) ? value["handle"] : null;
  const found = typeof handle === "string" ? HANDLE.exec(handle) : null;
  return found?.[1] ?? null;
}

function parse(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) {
    return value;
  }
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Render a value by its shape. An object with one list becomes a table, unless `asCard` is set. */
export function view(value: unknown, asCard = false): HTMLElement {
  if (isRows(value)) {
    return table(value);
  }
  if (Array.isArray(value)) {
    return value.length ? badges(value.map((one) => short(one, 60))) : make("p.nlui-dim", {}, "Empty list.");
  }
  if (isRow(value)) {
    const lists = Object.entries(value).filter(([, inner]) => isRows(inner));
    const [only] = lists;
    if (only && lists.length === 1 && !asCard) {
      const rest = Object.entries(value).filter(([key]) => ![only[0], "handle", "truncated"].includes(key));
      const cut = value["truncated"] ? make("p.nlui-dim", {}, "The model saw only these rows.") : null;
      const above = rest.length ? badges(rest.map(([key, inner]) => `${key}: ${short(inner, 40)}`)) : null;
      return make("div", {}, above, table(only[1] as readonly Row[]), cut);
    }
    return card(value);
  }
  const text = value === null || value === undefined ? "" : short(value, Infinity);
  const file = FILE.exec(text)?.[1];
  return file ? fileView(file) : make("div.nlui-text.chat-body", {}, markdown(text));
}

/** Show images and audio; offer other files for download. */
function fileView(handle: string): HTMLElement {
  const place = make("div.nlui-file", {}, "…");
  const gone = (): void => {
    place.textContent = "The file is no longer stored. Repeat the call.";
  };
  // The request of an <img> cannot carry the credential, so the bytes are fetched here.
  const show = async (): Promise<void> => {
    const kind = await api.kindOf(handle);
    if (/^image\/(png|jpeg|gif|webp)$/.test(kind)) {
      place.replaceChildren(make("img.nlui-picture", { src: await dataUrl(await api.file(handle)), alt: `Result, ${kind}` }));
    } else if (kind.startsWith("audio/")) {
      place.replaceChildren(make("audio", { src: await dataUrl(await api.file(handle)), controls: "" }));
    } else {
      place.replaceChildren(button(`Download (${kind})`, () => void api.file(handle).then(save, gone), "nlui-small"));
    }
  };
  show().catch(gone);
  return place;
}

function dataUrl(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error ?? new Error("unreadable"));
    reader.readAsDataURL(file);
  });
}

function save(file: Blob): void {
  const link = make("a", { href: URL.createObjectURL(file), download: "result" });
  link.click();
  URL.revokeObjectURL(link.href);
}

function table(rows: readonly Row[]): HTMLElement {
  const names = [...new Set(rows.slice(0, 5).flatMap((row) => Object.keys(row)))];
  const place = make("div.nlui-table", { tabindex: "0", role: "region", "aria-label": "Result table" });
  const notes = make("div.nlui-row");
  const draw = (columns: readonly string[]): void => {
    const body = make("tbody");
    const numeric = new Set(columns.filter((name) => rows.slice(0, 20).every((row) => row[name] === null || row[name] === undefined || typeof row[name] === "number")));
    const head = make("tr", {}, ...columns.map((name) => make("th", { scope: "col", ...(numeric.has(name) ? { class: "nlui-number" } : {}) }, name)));
    let shown = 0;
    const more = button("", () => extend(), "nlui-small");
    const extend = (): void => {
      body.append(...rows.slice(shown, shown + ROWS).map((row) => make("tr", {}, ...columns.map((name) => cell("td", row[name], 40)))));
      shown = Math.min(rows.length, shown + ROWS);
      more.textContent = `Show ${Math.min(ROWS, rows.length - shown)} more of ${rows.length} rows`;
      more.hidden = shown >= rows.length;
    };
    extend();
    const left = names.length - columns.length;
    const wider = left > 0 ? button(`Show ${left} more columns`, () => draw(names), "nlui-small") : null;
    place.replaceChildren(make("table", {}, make("thead", {}, head), body));
    notes.replaceChildren(...[more.hidden ? null : more, wider].filter((one) => one !== null));
  };
  draw(names.slice(0, COLUMNS));
  return make("div", {}, place, notes);
}

function card(row: Row): HTMLElement {
  const pairs = Object.entries(row).flatMap(([key, value]) => [make("dt", {}, key), cell("dd", value, 200)]);
  return pairs.length ? make("dl.nlui-card", {}, ...pairs) : make("p.nlui-dim", {}, "Empty object.");
}

function badges(values: readonly string[]): HTMLElement {
  const list = make("ul.nlui-badges", {}, ...values.slice(0, BADGES).map((value) => make("li", {}, value)));
  const left = values.length - BADGES;
  if (left > 0) {
    const more = button(`+${left} more`, () => {
      list.lastElementChild?.remove();
      list.append(...values.slice(BADGES).map((value) => make("li", {}, value)));
    }, "nlui-small");
    list.append(make("li", {}, more));
  }
  return list;
}

function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isRows(value: unknown): value is readonly Row[] {
  return Array.isArray(value) && value.length > 0 && value.every(isRow);
}
