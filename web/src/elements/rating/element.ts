/** `ui-rating`: some of so many stars, as a group of radio buttons. */
import { make, styleSheet } from "../base";
import { FieldElement } from "../field";
import css from "./rating.css?inline";

const sheet = styleSheet(css);

class UiRating extends FieldElement {
  protected readonly control = make("div.stars", { role: "radiogroup" });

  constructor() {
    super(sheet);
    this.box.append(this.control);
    this.control.addEventListener("click", (event) => {
      const star = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-value]") : null;
      if (star !== null) {
        this.rate(Number(star.dataset["value"]));
      }
    });
    this.control.addEventListener("keydown", (event) => this.onKey(event));
  }

  override focus(): void {
    this.control.querySelector<HTMLElement>("[tabindex='0']")?.focus();
  }

  private get now(): number {
    return Math.max(0, Math.round(Number(this.value) || 0));
  }

  private get most(): number {
    return Math.min(20, Math.max(1, Number(this.option("max", "5")) || 5));
  }

  protected override wrong(): string {
    return super.wrong(this.now === 0 ? null : this.now);
  }

  protected renderControl(): void {
    const focused = this.root.activeElement !== null;
    this.control.setAttribute("aria-labelledby", `${this.control.id}-label`);
    this.control.removeAttribute("disabled");
    const stars = Array.from({ length: this.most }, (_, at) => {
      const value = at + 1;
      const reachable = value === (this.now === 0 ? 1 : this.now);
      return make("span", {
        role: "radio", "data-value": value, tabindex: this.disabled ? false : reachable ? 0 : -1, "aria-label": `${value} of ${this.most}`,
        "aria-checked": String(value === this.now), "aria-disabled": this.disabled ? "true" : false, class: value <= this.now ? "full" : "",
      }, "★");
    });
    this.control.replaceChildren(...stars);
    if (focused) {
      this.focus();
    }
  }

  private rate(value: number): void {
    if (!this.disabled) {
      this.commit(value === this.now && !this.hasAttribute("required") ? 0 : Math.max(0, Math.min(this.most, value)));
    }
  }

  private onKey(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    const digit = /^\d$/.test(event.key) ? Number(event.key) : null;
    if (step !== undefined) {
      this.commit(Math.max(1, Math.min(this.most, this.now + step)));
    } else if (event.key === " " || event.key === "Enter") {
      this.rate(Number((this.root.activeElement as HTMLElement | null)?.dataset["value"] ?? 1));
    } else if (digit !== null && digit <= this.most) {
      this.commit(digit);
    } else {
      return;
    }
    event.preventDefault();
  }
}

customElements.define("ui-rating", UiRating);
