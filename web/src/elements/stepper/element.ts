/** `ui-stepper`: shows one part of a form after the other; a part with something wrong in it is not left forward. */
import { make, plainText, styleSheet, UiElement } from "../base";
import css from "./stepper.css?inline";

const sheet = styleSheet(css);

interface Checked extends Element {
  reportValidity?(): boolean;
  focus?(): void;
}

class UiStepper extends UiElement {
  private readonly heads = make("ol.heads");
  private readonly back = make("button.back", { type: "button" }, "Back");
  private readonly next = make("button.next", { type: "button" }, "Next");
  private readonly live = make("div.quiet", { "aria-live": "polite" });
  private own = 0;

  constructor() {
    super(sheet);
    const body = make("div.body", { role: "group", tabindex: -1 }, make("slot", { name: "step" }));
    this.root.append(make("nav", { "aria-label": "Steps" }, this.heads), body, make("div.foot", {}, this.back, this.next), this.live);
    this.back.addEventListener("click", () => this.go(this.at - 1));
    this.next.addEventListener("click", () => this.forward());
  }

  private steps(): HTMLElement[] {
    return [...this.querySelectorAll<HTMLElement>(":scope > ui-step")];
  }

  private nameOf(at: number): string | number {
    return this.steps()[at]?.getAttribute("name") ?? at + 1;
  }

  /** The place of the shown step; without a value the element remembers its own. */
  private get at(): number {
    const { value } = this;
    const count = this.steps().length;
    const named = this.steps().findIndex((_, at) => String(this.nameOf(at)) === plainText(value));
    return Math.max(0, Math.min(count - 1, named >= 0 ? named : this.own));
  }

  protected render(): void {
    const [steps, at] = [this.steps(), this.at];
    steps.forEach((step, index) => {
      const slot = index === at ? "step" : "other";
      if (step.slot !== slot) {
        step.slot = slot;
      }
    });
    const label = (step: HTMLElement, index: number): string => step.getAttribute("label") ?? `Step ${index + 1}`;
    this.heads.replaceChildren(...steps.map((step, index) => {
      const head = make("button", { type: "button", disabled: index > at, "aria-current": index === at ? "step" : false }, make("span.number", { "aria-hidden": "true" }, index < at ? "✓" : String(index + 1)), make("span.name", {}, label(step, index)));
      head.addEventListener("click", () => this.go(index));
      return make("li", { class: index < at ? "done" : index === at ? "current" : "" }, head);
    }));
    const current = steps[at];
    this.root.querySelector(".body")?.setAttribute("aria-label", current === undefined ? "Nothing" : label(current, at));
    this.back.hidden = at === 0;
    this.next.textContent = at === steps.length - 1 ? this.option("finish", "Finish") : this.option("next", "Next");
  }

  private go(to: number): void {
    const steps = this.steps();
    if (to >= 0 && to < steps.length) {
      this.own = to;
      this.commit(this.nameOf(to));
      this.live.textContent = `Step ${to + 1} of ${steps.length}: ${steps[to]?.getAttribute("label") ?? ""}`;
      this.root.querySelector<HTMLElement>(".body")?.focus();
    }
  }

  private forward(): void {
    const { at } = this;
    if (!this.complete(at)) {
      return;
    }
    if (at === this.steps().length - 1) {
      this.tell("finish", this.nameOf(at));
    } else {
      this.go(at + 1);
    }
  }

  /** Whether all fields of a step can be taken; the first that cannot gets the focus. */
  private complete(at: number): boolean {
    const fields: Checked[] = [...(this.steps()[at]?.querySelectorAll("*") ?? [])].filter((one) => typeof (one as Checked).reportValidity === "function");
    const wrong = fields.filter((field) => field.reportValidity?.() === false);
    wrong[0]?.focus?.();
    return wrong.length === 0;
  }
}

customElements.define("ui-stepper", UiStepper);
customElements.define("ui-step", class extends HTMLElement {});
