/** Markdown with fenced blocks `nlui:table`, `nlui:kv` and `nlui:badges`, whose JSON is rendered as a view. */
import { markdown } from "../chat/markdown";
import { view } from "./result";

const BLOCK = /^```nlui:(table|kv|badges)[ \t]*\n([\s\S]*?)\n```[ \t]*$/gm;

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
    const rows = Array.isArray(value) && value.length > 0 && value.every((row) => typeof row === "object" && row !== null && !Array.isArray(row));
    const card = typeof value === "object" && value !== null && !Array.isArray(value);
    const fits = { table: rows, kv: card, badges: Array.isArray(value) && !rows }[kind];
    return fits ? view(value, kind === "kv") : null;
  } catch {
    return null;
  }
}
