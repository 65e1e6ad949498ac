/** `ui-board`: cards in columns; moving one sets its field and its place in the Lua list. */
import { make, plainText, styleSheet, textsOf, UiElement } from "../base";
import { type Item, itemsOf, reference, textFields } from "../items";
import { type Lane, Lanes } from "../lanes";
import css from "../lanes.css?inline";

const sheet = styleSheet(css);

class UiBoard extends UiElement {
  private readonly live = make("div.quiet", { "aria-live": "assertive" });
  private readonly lanes = new Lanes({
    heads: true,
    say: (text) => (this.live.textContent = text),
    open: (key) => this.about("open", key),
    move: (key, lane, before) => this.move(key, lane, before),
  });

  constructor() {
    super(sheet);
    this.root.append(this.lanes.element, this.live);
  }

  private get by(): string {
    return this.option("by", "status");
  }

  private item(key: string): Item | undefined {
    return itemsOf(this.value).find((item) => String(item.$) === key);
  }

  /** `todo:To do|done`; without the attribute the values that the cards have. */
  private columns(items: readonly Item[]): { readonly key: string; readonly label: string }[] {
    const given = textsOf(this.getAttribute("columns"));
    const all = given.length > 0 ? given : [...new Set(items.map((item) => plainText(item[this.by])))];
    return all.map((text) => {
      const [key = "", label = key] = text.split(":");
      return { key: key.trim(), label: label.trim() || "None" };
    });
  }

  protected render(): void {
    const items = itemsOf(this.value);
    this.lanes.element.setAttribute("role", "group");
    this.lanes.element.setAttribute("aria-label", this.option("label", "Board"));
    this.lanes.show(this.columns(items).map(({ key, label }): Lane => ({
      key, label, entries: items.filter((item) => plainText(item[this.by]) === key).map((item) => this.entry(item)),
    })));
  }

  private entry(item: Item): Lane["entries"][number] {
    const text = textFields(item, this.option("text"));
    const note = plainText(item[this.option("note", "note")]);
    return { key: String(item.$), content: [make("span.handle", { "aria-hidden": "true" }, "⠿"), text, note === "" ? "" : make("div.note", {}, note)] };
  }

  private about(event: string, key: string): void {
    const item = this.item(key);
    if (item !== undefined) {
      this.tell(event, reference(item));
    }
  }

  private move(key: string, lane: string, before: string | null): void {
    const item = this.item(key);
    if (item === undefined) {
      return;
    }
    this.ask({ item: item.$, set: { [this.by]: lane }, move: true, ...(before === null ? {} : { before: Number(before) }) });
    this.keep(arranged(itemsOf(this.value), item, { ...item, [this.by]: lane }, before));
    this.draw();
    this.about("move", key);
  }
}

/** The list as the server will have it. */
function arranged(items: readonly Item[], item: Item, next: Item, before: string | null): Item[] {
  const others = items.filter((one) => one !== item);
  const at = before === null ? others.length : others.findIndex((one) => String(one.$) === before);
  return [...others.slice(0, at), next, ...others.slice(at)];
}

customElements.define("ui-board", UiBoard);
