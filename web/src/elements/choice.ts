/** A field with a list of suggestions that is searched by typing; `ui-combobox`, `ui-tags` and `ui-time` are made of it. */
import { iconButton, listOf, make, styleSheet, textsOf } from "./base";
import { FieldElement } from "./field";
import { ICON } from "./icons";
import { Popup } from "./popup";
import css from "./choice.css?inline";

export interface Option {
  readonly value: string;
  readonly label: string;
}

const MOST_SHOWN = 200;
const sheet = styleSheet(css);

/** The options that hold every word of a search; those that begin with it first. */
export function matching(options: readonly Option[], search: string): Option[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = options.filter(({ label, value }) => words.every((word) => `${label} ${value}`.toLowerCase().includes(word)));
  const first = (one: Option): number => (one.label.toLowerCase().startsWith(search.trim().toLowerCase()) ? 0 : 1);
  return found.map((one, at) => ({ one, at })).sort((a, b) => first(a.one) - first(b.one) || a.at - b.at).map(({ one }) => one);
}

export abstract class Choice extends FieldElement {
  protected readonly control = make("input", { type: "text", role: "combobox", autocomplete: "off", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "options" });
  private readonly list = make("ul.options", { id: "options", role: "listbox" });
  private readonly live = make("div.quiet", { "aria-live": "polite" });
  private readonly popup: Popup;
  private readonly opener: HTMLButtonElement;
  private shown: Option[] = [];
  private active = -1;
  /** What was typed since the list was opened; null if nothing was. */
  private search: string | null = null;

  constructor(icon: string = ICON.down) {
    super(sheet);
    this.opener = iconButton("Show choices", icon, () => this.toggle());
    this.opener.tabIndex = -1;
    this.box.append(this.control, this.opener);
    this.root.append(this.list, this.live);
    this.popup = new Popup(this.list, this.box, (open) => this.control.setAttribute("aria-expanded", String(open)));
    this.control.addEventListener("input", () => this.typed());
    this.control.addEventListener("keydown", (event) => this.onKey(event));
    this.box.addEventListener("pointerdown", (event) => this.pressed(event));
    this.list.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
    this.list.addEventListener("click", (event) => this.clicked(event));
    this.whenLeft(() => this.left());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.popup.close();
  }

  protected get many(): boolean {
    return this.hasAttribute("multiple");
  }

  /** Whether texts beside the options are taken. */
  protected get custom(): boolean {
    return this.hasAttribute("custom");
  }

  protected options(): Option[] {
    const children = [...this.querySelectorAll("option")].map((one) => ({ value: one.value, label: one.textContent.trim() || one.value }));
    return [...children, ...textsOf(this.getAttribute("options")).map((value) => ({ value, label: value }))];
  }

  /** A typed text as a value; null if it is none. */
  protected parse(text: string): string | null {
    const near = text.trim().toLowerCase();
    const found = this.options().find(({ label, value }) => label.toLowerCase() === near || value.toLowerCase() === near);
    return found?.value ?? (this.custom && near !== "" ? text.trim() : null);
  }

  protected chosen(): string[] {
    return listOf(this.value);
  }

  protected labelOf(value: string): string {
    return this.options().find((one) => one.value === value)?.label ?? value;
  }

  protected renderControl(): void {
    const chosen = this.chosen();
    this.control.placeholder = this.many && chosen.length > 0 ? "" : this.option("placeholder");
    this.list.setAttribute("aria-label", this.option("label", "Choices"));
    this.list.setAttribute("aria-multiselectable", String(this.many));
    this.opener.disabled = this.disabled;
    this.opener.hidden = this.options().length === 0;
    this.drawChips(this.many ? chosen : []);
    if (!this.many && this.search === null) {
      this.control.value = chosen[0] === undefined ? "" : this.labelOf(chosen[0]);
    }
    if (this.popup.isOpen) {
      this.drawOptions();
    }
  }

  private drawChips(chosen: readonly string[]): void {
    this.box.querySelectorAll(".chip").forEach((chip) => chip.remove());
    for (const value of chosen) {
      const label = this.labelOf(value);
      const remove = make("button", { type: "button", "aria-label": `Remove ${label}`, disabled: this.disabled }, "×");
      remove.addEventListener("click", () => {
        this.choose(value);
        this.control.focus();
      });
      this.control.before(make("span.chip", {}, label, remove));
    }
  }

  private drawOptions(): void {
    const search = this.search ?? "";
    const chosen = new Set(this.chosen());
    this.shown = matching(this.options(), search).slice(0, MOST_SHOWN);
    const own = this.custom && search.trim() !== "" && this.parse(search) === search.trim() && !this.shown.some(({ value }) => value === search.trim());
    if (own) {
      this.shown.push({ value: search.trim(), label: `Add “${search.trim()}”` });
    }
    this.active = Math.min(this.active, this.shown.length - 1);
    const rows = this.shown.map(({ value, label }, at) =>
      make("li", { role: "option", id: `option-${at}`, "aria-selected": String(chosen.has(value)), "data-at": at, class: at === this.active ? "active" : "" }, label),
    );
    const empty = make("li.none", { role: "option", "aria-disabled": "true", "aria-selected": "false" }, "Nothing matches.");
    this.list.replaceChildren(...(rows.length > 0 ? rows : [empty]));
    this.control.setAttribute("aria-activedescendant", this.active < 0 ? "" : `option-${this.active}`);
    this.list.children[this.active]?.scrollIntoView({ block: "nearest" });
    this.popup.moved();
  }

  private open(): void {
    if (!this.disabled && (this.options().length > 0 || this.search !== null)) {
      this.popup.open();
      this.drawOptions();
    }
  }

  private close(): void {
    this.popup.close();
    this.active = -1;
    this.control.setAttribute("aria-activedescendant", "");
  }

  private toggle(): void {
    this.control.focus();
    if (this.popup.isOpen) {
      this.close();
    } else {
      this.search = null;
      this.open();
    }
  }

  private pressed(event: Event): void {
    if (event.target === this.control && !this.popup.isOpen) {
      this.open();
    }
  }

  private typed(): void {
    this.search = this.control.value;
    this.accept();
    this.active = this.custom ? -1 : 0;
    this.open();
    this.drawOptions();
    this.live.textContent = `${this.shown.length} ${this.shown.length === 1 ? "choice" : "choices"}`;
  }

  private clicked(event: Event): void {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-at]") : null;
    const option = row === null ? undefined : this.shown[Number(row.dataset["at"])];
    if (option !== undefined) {
      this.choose(option.value);
    }
  }

  /** Take a value, or of several remove it again. */
  private choose(value: string): void {
    this.accept();
    this.search = null;
    if (this.many) {
      const now = this.chosen();
      this.control.value = "";
      const removed = now.includes(value);
      this.live.textContent = `${this.labelOf(value)} ${removed ? "removed" : "chosen"}`;
      this.commit(removed ? now.filter((one) => one !== value) : [...now, value]);
      if (this.custom) {
        this.close();
      }
    } else {
      this.close();
      this.control.value = this.labelOf(value);
      this.commit(value);
    }
  }

  /** Take what was typed; say so if it is none of the choices. */
  private take(): void {
    const text = this.control.value;
    if (this.search === null) {
      return;
    }
    this.search = null;
    if (text.trim() === "") {
      if (!this.many && this.chosen().length > 0) {
        this.commit("");
      }
      return;
    }
    const value = this.parse(text);
    if (value === null) {
      this.refuse(this.refusal(text));
    } else if (this.many ? !this.chosen().includes(value) : true) {
      this.choose(value);
    } else {
      this.control.value = "";
    }
  }

  protected refusal(text: string): string {
    return `“${text}” is none of the choices.`;
  }

  private left(): void {
    this.close();
    this.take();
  }

  private onKey(event: KeyboardEvent): void {
    const { key } = event;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[key];
    if (step !== undefined) {
      this.step(step);
    } else if (key === "Enter") {
      this.enter();
    } else if (key === "," && this.custom && this.many) {
      this.take();
    } else if (key === "Escape" && (this.popup.isOpen || this.search !== null)) {
      this.search = null;
      this.close();
      this.accept();
      this.draw();
      event.stopPropagation();
    } else if (key === "Backspace" && this.many && this.control.value === "") {
      const last = this.chosen().at(-1);
      if (last !== undefined) {
        this.choose(last);
      }
      return;
    } else {
      return;
    }
    event.preventDefault();
  }

  private step(by: number): void {
    if (this.popup.isOpen) {
      this.active = Math.max(0, Math.min(this.shown.length - 1, this.active + by));
    } else {
      this.open();
      this.active = Math.max(0, this.shown.findIndex(({ value }) => this.chosen().includes(value)));
    }
    this.drawOptions();
  }

  private enter(): void {
    const option = this.popup.isOpen ? this.shown[this.active] : undefined;
    if (option !== undefined) {
      this.choose(option.value);
    } else {
      this.take();
      this.close();
    }
  }
}
