/** Markdown with fenced blocks `nlui:table`, `nlui:kv`, `nlui:badges` and `nlui:chart`, whose JSON is rendered as a view. */
import { markdown } from "../chat/markdown";
import { type ChartOptions, chartView, isChartable } from "./chart";
import { isRows, view } from "./result";

const BLOCK = /^```nlui:(table|kv|badges|chart)[ \t]*\n([\s\S]*?)\n```[ \t]*$/gm;

/** Render a message. A block whose JSON does not fit its kind stays a code block. */
export function richMarkdown(text: string): DocumentFragment {
  const whole = document.createDocumentFragment();
  let from = 0;
  for (const found of text.matchAll(BLOCK)) {
    const view = blockView(found[1] ?? "", found[2] ?? "");
    if (view) {
      whole.append(markdown(text.slice(from, found.index)), view);
      from = found.index + found[0].length;
    }
  }
  whole.append(markdown(text.slice(from)));
  return whole;
}

function blockView(kind: string, json: string): HTMLElement | null {
  try {
    const value: unknown = JSON.parse(json);
    if (kind === "chart") {
      return chartBlock(value);
    }
    const rows = isRows(value);
    const card = typeof value === "object" && value !== null && !Array.isArray(value);
    const fits = { table: rows, kv: card, badges: Array.isArray(value) && !rows }[kind];
    return fits ? view(value, kind === "kv") : null;
  } catch {
    return null;
  }
}

/** A chart of a list of rows, or of an object with `rows` and how to draw them. */
function chartBlock(value: unknown): HTMLElement | null {
  const options: ChartOptions & { readonly rows?: unknown } = typeof value === "object" && value !== null && "rows" in value ? value : { rows: value };
  return isRows(options.rows) && isChartable(options.rows) ? chartView(options.rows, options) : null;
}
