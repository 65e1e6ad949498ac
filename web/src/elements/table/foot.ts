/** Below the rows: totals, and the buttons of a table with pages. */
import { make } from "../base";
import { type Column, shown, type Value } from "./columns";
import type { Rows } from "./data";
import type { Shown } from "./layout";

/** Write the totals into the last row; it is hidden if there are none. */
export function drawTotals(foot: HTMLElement, data: Rows, visible: readonly Shown[], checks: boolean): void {
  foot.hidden = data.length === 0 || !visible.some(({ column }) => data.totals[column.name] !== undefined);
  const cells = visible.map(({ column }, at) => {
    const value = data.totals[column.name];
    const cell = make("div.cell", { role: "gridcell", "aria-colindex": at + 1 });
    cell.classList.toggle("number", column.type === "number");
    if (value !== undefined) {
      const kind = column.total || "sum";
      cell.append(make("span.kind", {}, kind === "sum" ? "Σ" : kind), ` ${totalText(value, column)}`);
    } else if (at === 0) {
      cell.textContent = "Total";
    }
    return cell;
  });
  foot.replaceChildren(...(checks ? [make("div.cell", { role: "gridcell" })] : []), ...cells);
}

/** A total as the cells of its column are written; a count is a plain number. */
export function totalText(value: Value, column: Column): string {
  return shown(value, column.total === "count" ? { ...column, type: "number", unit: "", decimals: 0 } : column);
}

/** Draw the buttons to the page before and after. */
export function drawPager(pager: HTMLElement, data: Rows, size: number, go: (page: number) => void): void {
  pager.hidden = size === 0 || data.length <= size;
  if (pager.hidden) {
    return;
  }
  const page = Math.floor(data.from / size);
  const last = Math.ceil(data.length / size) - 1;
  const step = (text: string, to: number): HTMLButtonElement => {
    const made = make("button", { type: "button", disabled: to < 0 || to > last }, text);
    made.addEventListener("click", () => go(to));
    return made;
  };
  const range = `${data.from + 1}–${data.from + data.rows.length} of ${data.length.toLocaleString()}`;
  pager.replaceChildren(step("Previous", page - 1), make("span", { "aria-live": "polite" }, range), step("Next", page + 1));
}
