/** One value in a table or card. Values become text nodes, never HTML. */
import { make } from "./dom";

const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;
const LINK = /^https?:\/\/[^\s<>"]+$/i;

export function cell(tag: "td" | "dd", value: unknown, limit: number): HTMLElement {
  if (value === null || value === undefined) {
    return make(tag, { class: "nlui-dim" }, "–");
  }
  switch (typeof value) {
    case "boolean":
      return make(tag, {}, make("span", { class: value ? "nlui-badge nlui-yes" : "nlui-badge" }, value ? "yes" : "no"));
    case "number": {
      return make(tag, { class: "nlui-number" }, String(value));
    }
    case "string":
      return make(tag, {}, words(value, limit));
    default:
      return make(tag, {}, nested(value, limit));
  }
}

function words(value: string, limit: number): Node {
  if (LINK.test(value)) {
    return make("a", { href: value, target: "_blank", rel: "noopener noreferrer" }, short(value, limit));
  }
  if (DATE.test(value) && !Number.isNaN(Date.parse(value))) {
    const day = value.length === 10;
    const when = new Date(day ? `${value}T00:00` : value);
    return make("time", { datetime: value, title: value }, day ? when.toLocaleDateString() : when.toLocaleString());
  }
  return value.length > limit ? folded(short(value, limit), value) : document.createTextNode(value);
}

function nested(value: unknown, limit: number): Node {
  const text = JSON.stringify(value);
  return text.length > limit ? folded(short(value, limit), JSON.stringify(value, null, 2)) : make("code", {}, text);
}

function folded(cut: string, whole: string): HTMLElement {
  return make("details.nlui-fold", {}, make("summary", {}, cut), make("pre.nlui-raw", { tabindex: "0" }, whole));
}

/** Write a value as text, cut to `limit` characters. */
export function short(value: unknown, limit: number): string {
  const text = typeof value === "string" ? value : ((JSON.stringify(value) as string | undefined) ?? "");
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}
