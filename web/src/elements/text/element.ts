/** `ui-text`: a text of one or several lines, an address or a password. */
import { iconButton, make, plainText, styleSheet } from "../base";
import { FieldElement } from "../field";
import { ICON } from "../icons";
import { problemOf } from "./rules";
import css from "./text.css?inline";

const sheet = styleSheet(css);
const PASSED_ON = ["autocomplete", "maxlength", "placeholder", "inputmode", "spellcheck"];
const LINE = 1.45;

class UiText extends FieldElement {
  private readonly line = make("input", { type: "text" });
  private readonly area = make("textarea");
  private readonly reveal = iconButton("Show password", ICON.eye, () => this.toggle());
  private revealed = false;
  /** The text that the server knows. */
  private known = "";

  constructor() {
    super(sheet);
    for (const control of [this.line, this.area] as HTMLElement[]) {
      control.addEventListener("input", () => this.draw());
      control.addEventListener("change", () => this.take());
      control.addEventListener("keydown", (event) => this.onKey(event));
    }
  }

  protected get control(): HTMLInputElement | HTMLTextAreaElement {
    return this.hasAttribute("rows") ? this.area : this.line;
  }

  override get value(): unknown {
    return this.control.value;
  }

  override set value(next: unknown) {
    this.received(next);
  }

  protected override keep(value: unknown): void {
    this.known = plainText(value);
    // To write the same text again would move the caret.
    if (this.control.value !== this.known) {
      this.control.value = this.known;
    }
  }

  protected override wrong(value: unknown): string {
    const number = (name: string): number => Number(this.option(name, "0")) || 0;
    const rules = { type: this.option("type"), least: number("minlength"), most: number("maxlength"), pattern: this.option("pattern"), expected: this.option("title") };
    return problemOf(plainText(value), rules) || super.wrong(value);
  }

  protected renderControl(): void {
    const { control } = this;
    const type = this.option("type", "text");
    if (control.parentElement !== this.box) {
      control.value = this.known;
      this.box.replaceChildren(control, this.reveal);
    }
    for (const name of PASSED_ON) {
      if (this.hasAttribute(name)) {
        control.setAttribute(name, this.option(name));
      } else {
        control.removeAttribute(name);
      }
    }
    this.area.style.minHeight = `${Math.max(1, Number(this.option("rows")) || 1) * LINE + 0.6}em`;
    // Not `email` or `url`: browsers change what is typed into those, and their messages are in other words.
    this.line.type = type === "password" && !this.revealed ? "password" : type === "search" || type === "tel" ? type : "text";
    if (!this.hasAttribute("inputmode") && (type === "email" || type === "url")) {
      control.setAttribute("inputmode", type);
    }
    control.readOnly = this.hasAttribute("readonly");
    this.reveal.hidden = type !== "password" || control === this.area;
    this.reveal.disabled = this.disabled;
    this.reveal.setAttribute("aria-pressed", String(this.revealed));
  }

  private toggle(): void {
    this.revealed = !this.revealed;
    this.draw();
  }

  private take(): void {
    const { value } = this.control;
    if (value !== this.known) {
      this.commit(value);
    }
  }

  private onKey(event: KeyboardEvent): void {
    if (event.key === "Enter" && !event.isComposing && (this.control === this.line || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.take();
      this.submit();
    } else if (event.key === "Escape" && this.control.value !== this.known) {
      this.control.value = this.known;
      this.draw();
    }
  }
}

customElements.define("ui-text", UiText);
