/** `ui-palette`: all commands of an app, found by typing; Ctrl+K opens it. */
import { make, plainText, styleSheet, UiElement } from "../base";
import { matching } from "../choice";
import { type Item, itemsOf, reference, textFields } from "../items";
import choiceCss from "../choice.css?inline";
import css from "./palette.css?inline";

const sheets = [choiceCss, css].map(styleSheet);

class UiPalette extends UiElement {
  private readonly opener = make("button.opener", { type: "button", "aria-haspopup": "dialog" });
  private readonly dialog = make("dialog", { "aria-label": "Commands" });
  private readonly field = make("input", { type: "text", role: "combobox", autocomplete: "off", "aria-expanded": "true", "aria-controls": "options", "aria-label": "Search commands", placeholder: "Type a command" });
  private readonly list = make("ul.options", { id: "options", role: "listbox", "aria-label": "Commands" });
  private shown: Item[] = [];
  private active = 0;
  private readonly onShortcut = (event: KeyboardEvent): void => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === this.option("key", "k").toLowerCase()) {
      event.preventDefault();
      this.open();
    }
  };

  constructor() {
    super(...sheets);
    this.dialog.append(this.field, this.list);
    this.root.append(this.opener, this.dialog);
    this.opener.addEventListener("click", () => this.open());
    this.field.addEventListener("input", () => {
      this.active = 0;
      this.drawList();
    });
    this.field.addEventListener("keydown", (event) => this.onKey(event));
    this.list.addEventListener("click", (event) => {
      const row = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-at]") : null;
      this.run(this.shown[Number(row?.dataset["at"] ?? -1)]);
    });
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) {
        this.dialog.close();
      }
    });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener("keydown", this.onShortcut);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("keydown", this.onShortcut);
  }

  protected render(): void {
    this.opener.replaceChildren(this.option("label", "Commands"), make("kbd", {}, `Ctrl+${this.option("key", "k").toUpperCase()}`));
    if (this.dialog.open) {
      this.drawList();
    }
  }

  private open(): void {
    if (!this.dialog.open) {
      this.field.value = "";
      this.active = 0;
      this.dialog.showModal();
      this.drawList();
      this.field.focus();
    }
  }

  private drawList(): void {
    const items = itemsOf(this.value);
    const options = items.map((item, at) => ({ value: String(at), label: `${textFields(item, this.option("text"))} ${plainText(item["hint"])}`.trim() }));
    this.shown = matching(options, this.field.value).map(({ value }) => items[Number(value)]).filter((item) => item !== undefined);
    this.active = Math.max(0, Math.min(this.shown.length - 1, this.active));
    const rows = this.shown.map((item, at) =>
      make("li", { role: "option", id: `option-${at}`, "data-at": at, "aria-selected": String(at === this.active), class: at === this.active ? "active" : "" }, make("span", {}, textFields(item, this.option("text"))), make("span.hint", {}, plainText(item["hint"]))),
    );
    const none = make("li.none", { role: "option", "aria-disabled": "true", "aria-selected": "false" }, "Nothing matches.");
    this.list.replaceChildren(...(rows.length > 0 ? rows : [none]));
    this.field.setAttribute("aria-activedescendant", rows.length > 0 ? `option-${this.active}` : "");
    this.list.children[this.active]?.scrollIntoView({ block: "nearest" });
  }

  private run(item: Item | undefined): void {
    if (item !== undefined) {
      this.dialog.close();
      this.opener.focus();
      this.ask({ item: item.$, run: true });
      this.tell("run", reference(item));
    }
  }

  private onKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      this.active += step;
      this.drawList();
    } else if (event.key === "Enter") {
      this.run(this.shown[this.active]);
    } else {
      return;
    }
    event.preventDefault();
  }
}

customElements.define("ui-palette", UiPalette);
