/** `ui-diff`: two versions of a text, in one column or side by side. */
import { make, plainText, styleSheet, UiElement } from "../base";
import { compare, type Fold, folded, paired, parseUnified, type Row } from "./compare";
import css from "./diff.css?inline";

const sheet = styleSheet(css);
const SAYS = { same: "", gone: "removed: ", new: "added: " } as const;
const SIGN = { same: " ", gone: "−", new: "+" } as const;

class UiDiff extends UiElement {
  private readonly summary = make("div.summary", { role: "status" });
  private readonly table = make("table");
  private opened = new Set<number>();
  private known = "";

  constructor() {
    super(sheet);
    this.root.append(this.summary, make("div.scroll", { tabindex: 0, role: "region", "aria-label": "Changes" }, this.table));
    this.table.addEventListener("click", (event) => {
      const number = event.target instanceof Element ? event.target.closest<HTMLElement>("button[data-line]") : null;
      if (number !== null) {
        this.tell("line", { side: number.dataset["side"] ?? "new", line: Number(number.dataset["line"]), text: number.dataset["text"] ?? "" });
      }
    });
  }

  private rows(): Row[] {
    const { value } = this;
    if (typeof value === "object" && value !== null) {
      const { old, new: now } = value as { old?: unknown; new?: unknown };
      return compare(plainText(old), plainText(now));
    }
    return parseUnified(plainText(value));
  }

  protected render(): void {
    const known = JSON.stringify(this.value ?? null);
    if (known !== this.known) {
      this.known = known;
      this.opened = new Set();
    }
    const rows = this.rows();
    const [added, gone] = (["new", "gone"] as const).map((kind) => rows.filter((row) => row.kind === kind).length);
    const label = this.option("label", "Changes");
    this.summary.textContent = added === 0 && gone === 0 ? `${label}: no difference` : `${label}: ${added} added, ${gone} removed`;
    const shown = folded(rows, Number(this.option("context", "3")) || 3);
    const split = this.hasAttribute("split");
    this.table.replaceChildren(make("caption.quiet", {}, label), make("tbody", {}, ...this.bodies(shown, split)));
    this.table.classList.toggle("split", split);
    this.table.classList.toggle("wrap", this.hasAttribute("wrap"));
  }

  private *bodies(shown: readonly (Row | Fold)[], split: boolean): Iterable<HTMLElement> {
    let run: Row[] = [];
    for (const [at, one] of shown.entries()) {
      const rows = one.kind !== "fold" ? [one] : this.opened.has(at) ? one.rows : null;
      if (rows !== null) {
        run.push(...rows);
        continue;
      }
      yield* this.lines(run, split);
      run = [];
      yield this.fold(one as Fold, at, split);
    }
    yield* this.lines(run, split);
  }

  private fold(fold: Fold, at: number, split: boolean): HTMLElement {
    const button = make("button", { type: "button" }, `Show ${fold.rows.length} unchanged lines`);
    button.addEventListener("click", () => {
      this.opened.add(at);
      this.draw();
    });
    return make("tr.fold", {}, make("td", { colspan: split ? 4 : 4 }, button));
  }

  private *lines(rows: readonly Row[], split: boolean): Iterable<HTMLElement> {
    if (!split) {
      for (const row of rows) {
        yield make("tr", { class: row.kind }, this.number(row, "old"), this.number(row, "new"), make("td.sign", { "aria-hidden": "true" }, SIGN[row.kind]), this.code(row));
      }
      return;
    }
    for (const { left, right } of paired(rows)) {
      yield make("tr", {}, this.number(left, "old"), this.code(left), this.number(right, "new"), this.code(right));
    }
  }

  private number(row: Row | null, side: "old" | "new"): HTMLElement {
    const line = row?.[side] ?? null;
    const text = row?.parts.map((part) => part.text).join("") ?? "";
    const content = line === null ? "" : this.hasAttribute("comment") ? make("button", { type: "button", "data-line": line, "data-side": side, "data-text": text, "aria-label": `Line ${line} of the ${side} text` }, String(line)) : String(line);
    return make("td.number", {}, content);
  }

  private code(row: Row | null): HTMLElement {
    if (row === null) {
      return make("td.code.none");
    }
    const heading = row.old === null && row.new === null;
    const parts = row.parts.map(({ text, changed }) => (changed ? make("mark", {}, text) : text));
    const says = SAYS[row.kind];
    return make("td", { class: `code ${heading ? "heading" : row.kind}` }, says !== "" && make("span.quiet", {}, says), ...parts);
  }
}

customElements.define("ui-diff", UiDiff);
