/** `ui-sortable`: a Lua list whose order the person changes. */
import { make, plainText, styleSheet, UiElement } from "../base";
import { type Item, reference, textFields } from "../items";
import { Lanes } from "../lanes";
import css from "../lanes.css?inline";
import own from "./sortable.css?inline";

const sheets = [css, own].map(styleSheet);

class UiSortable extends UiElement {
  private readonly live = make("div.quiet", { "aria-live": "assertive" });
  private readonly lanes = new Lanes({
    heads: false,
    say: (text) => (this.live.textContent = text),
    open: (key) => this.tell("open", this.about(Number(key))),
    move: (key, _, before) => this.move(Number(key), before === null ? this.list().length : Number(before)),
  });

  constructor() {
    super(...sheets);
    this.root.append(this.lanes.element, this.live);
  }

  private list(): unknown[] {
    return Array.isArray(this.value) ? (this.value as unknown[]) : [];
  }

  private about(at: number): unknown {
    const one = this.list()[at];
    return typeof one === "object" && one !== null ? reference(one as Item) : (one ?? null);
  }

  protected render(): void {
    const label = this.option("label", "List");
    const entries = this.list().map((one, at) => {
      const text = typeof one === "object" && one !== null ? textFields(one as Item, this.option("text")) : plainText(one);
      return { key: String(at), content: [make("span.handle", { "aria-hidden": "true" }, "⠿"), text] };
    });
    this.lanes.show([{ key: "all", label, entries }]);
  }

  private move(from: number, before: number): void {
    const list = this.list();
    const to = before > from ? before - 1 : before;
    if (from === to) {
      return;
    }
    const moved = this.about(from);
    this.ask({ from: from + 1, to: to + 1 });
    const others = list.filter((_, at) => at !== from);
    this.keep([...others.slice(0, to), list[from], ...others.slice(to)]);
    this.draw();
    this.tell("move", moved);
  }
}

customElements.define("ui-sortable", UiSortable);
