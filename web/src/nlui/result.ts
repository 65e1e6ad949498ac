/** Shows a tool's result by its shape: a table, a card, badges, or text; always with its raw JSON at hand. */
import { markdown } from "../chat/markdown";
import { button, make } from "./dom";

type Row = Readonly<Record<string, unknown>>;
const COLUMNS = 10;
const ROWS = 100;
const BADGES = 50;

/** Render a result; what cannot be recognised is text. */
export function resultView(value: unknown): HTMLElement {
  const parsed = parse(value);
  const raw = make("pre.nlui-raw", { tabindex: "0" }, typeof parsed === "string" ? parsed : JSON.stringify(parsed, null, 2));
  raw.hidden = true;
  const shown = view(parsed);
  const toggle = button("Raw", () => {
    raw.hidden = !raw.hidden;
    shown.hidden = !raw.hidden;
    toggle.textContent = raw.hidden ? "Raw" : "View";
  }, "nlui-small");
  toggle.title = "Switch between the view and the JSON";
  return make("div.nlui-result", {}, shown, raw, toggle);
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

function view(value: unknown): HTMLElement {
  if (isRows(value)) {
    return table(value);
  }
  if (Array.isArray(value)) {
    return badges(value);
  }
  if (isRow(value)) {
    const lists = Object.entries(value).filter(([, inner]) => isRows(inner));
    const [only] = lists;
    if (only && lists.length === 1) {
      const rest = Object.entries(value).filter(([key]) => key !== only[0]);
      return make("div", {}, badges(rest.map(([key, inner]) => `${key}: ${short(inner, 40)}`)), table(only[1] as readonly Row[]));
    }
    return card(value);
  }
  return make("div.nlui-text", {}, markdown(String(value ?? "")));
}

function table(rows: readonly Row[]): HTMLElement {
  const names = [...new Set(rows.slice(0, 5).flatMap((row) => Object.keys(row)))];
  const columns = names.slice(0, COLUMNS);
  const body = make("tbody");
  let shown = 0;
  const more = button("", () => extend(), "nlui-small");
  const extend = (): void => {
    for (const row of rows.slice(shown, shown + ROWS)) {
      body.append(make("tr", {}, ...columns.map((name) => cell("td", row[name], 40))));
    }
    shown = Math.min(rows.length, shown + ROWS);
    more.textContent = `${rows.length - shown} more rows`;
    more.hidden = shown >= rows.length;
  };
  extend();
  const head = make("thead", {}, make("tr", {}, ...columns.map((name) => make("th", { scope: "col" }, name))));
  const left = names.length > columns.length ? make("p.nlui-dim", {}, `Not shown: ${names.slice(COLUMNS).join(", ")}`) : null;
  return make("div.nlui-table", { tabindex: "0", role: "region", "aria-label": "Result" }, make("table", {}, head, body), more, left);
}

function card(row: Row): HTMLElement {
  const pairs = Object.entries(row).flatMap(([key, value]) => [make("dt", {}, key), cell("dd", value, 200)]);
  return make("dl.nlui-card", {}, ...pairs);
}

function badges(values: readonly unknown[]): HTMLElement {
  const left = values.length - BADGES;
  const shown = values.slice(0, BADGES).map((value) => make("li", {}, short(value, 60)));
  return make("ul.nlui-badges", {}, ...shown, left > 0 ? make("li.nlui-dim", {}, `+${left} more`) : null);
}

function cell<K extends "td" | "dd">(tag: K, value: unknown, limit: number): HTMLElement {
  if (value === null || value === undefined) {
    return make(tag, { class: "nlui-dim" }, "–");
  }
  if (typeof value === "boolean") {
    return make(tag, {}, make("span.nlui-badge", {}, value ? "yes" : "no"));
  }
  if (typeof value === "number") {
    const made = make(tag, {}, String(value));
    made.classList.add("nlui-number");
    return made;
  }
  const text = short(value, limit);
  const made = make(tag, {}, text);
  if (typeof value !== "string" || value.length > limit) {
    made.title = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  }
  return made;
}

function short(value: unknown, limit: number): string {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}

function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isRows(value: unknown): value is readonly Row[] {
  return Array.isArray(value) && value.length > 0 && value.every(isRow);
}
