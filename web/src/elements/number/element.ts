/** `ui-number`: a number with its unit, typed as people write it or stepped. */
import { iconButton, make, styleSheet, textsOf } from "../base";
import { FieldElement } from "../field";
import { ICON } from "../icons";
import { parseQuantity, shownNumber, tidy, type Unit, unitsOf } from "./quantity";
import css from "./number.css?inline";

const sheet = styleSheet(css);

class UiNumber extends FieldElement {
  protected readonly control = make("input", { type: "text", inputmode: "decimal", role: "spinbutton", autocomplete: "off" });
  private readonly unit = make("span.unit");
  private readonly choice = make("select", { "aria-label": "Unit" });
  private readonly less = iconButton("Less", ICON.minus, () => this.step(-1));
  private readonly more = iconButton("More", ICON.plus, () => this.step(1));
  private chosen = "";
  private typing = false;

  constructor() {
    super(sheet);
    this.less.tabIndex = this.more.tabIndex = -1;
    this.box.append(this.control, this.unit, this.choice, this.less, this.more);
    this.control.addEventListener("input", () => (this.typing = true));
    this.control.addEventListener("blur", () => this.take());
    this.control.addEventListener("keydown", (event) => this.onKey(event));
    this.choice.addEventListener("change", () => {
      this.chosen = this.choice.value;
      this.draw();
    });
  }

  private units(): Unit[] {
    const several = unitsOf(textsOf(this.getAttribute("units")));
    return several.length > 0 ? several : [{ name: this.option("unit"), factor: 1 }];
  }

  private unitNow(): Unit {
    const units = this.units();
    return units.find(({ name }) => name === this.chosen) ?? units[0] ?? { name: "", factor: 1 };
  }

  private number(): number | null {
    return typeof this.value === "number" ? this.value : this.value === null || this.value === "" || Number.isNaN(Number(this.value)) ? null : Number(this.value);
  }

  private limit(name: "min" | "max"): number | null {
    return this.hasAttribute(name) ? Number(this.option(name)) : null;
  }

  private shown(value: number): string {
    const decimals = this.hasAttribute("decimals") ? Number(this.option("decimals")) : null;
    return shownNumber(tidy(value / this.unitNow().factor), decimals);
  }

  protected override wrong(value: unknown): string {
    const [min, max, unit] = [this.limit("min"), this.limit("max"), this.unitNow().name];
    const now = this.number();
    const written = (limit: number): string => `${this.shown(limit)}${unit === "" ? "" : ` ${unit}`}`;
    if (now !== null && min !== null && now < min) {
      return `At least ${written(min)}.`;
    }
    return now !== null && max !== null && now > max ? `At most ${written(max)}.` : super.wrong(value);
  }

  protected renderControl(): void {
    const [units, unit, now] = [this.units(), this.unitNow(), this.number()];
    const several = units.length > 1;
    this.unit.hidden = several || unit.name === "";
    this.unit.textContent = unit.name;
    this.choice.hidden = !several;
    this.choice.replaceChildren(...units.map(({ name }) => make("option", { value: name, selected: name === unit.name }, name)));
    this.control.placeholder = this.option("placeholder");
    this.less.disabled = this.more.disabled = this.choice.disabled = this.disabled;
    if (!this.typing) {
      this.control.value = now === null ? "" : this.shown(now);
    }
    for (const [name, limit] of [["aria-valuenow", now], ["aria-valuemin", this.limit("min")], ["aria-valuemax", this.limit("max")]] as const) {
      if (limit === null) {
        this.control.removeAttribute(name);
      } else {
        this.control.setAttribute(name, String(limit));
      }
    }
    this.control.setAttribute("aria-valuetext", now === null ? "empty" : `${this.shown(now)} ${unit.name}`.trim());
  }

  private take(): void {
    if (!this.typing) {
      return;
    }
    const text = this.control.value.trim();
    const number = text === "" ? null : parseQuantity(text, this.units(), this.unitNow());
    if (text !== "" && number === null) {
      this.refuse(`“${text}” is no number${this.units().length > 1 ? " in one of these units" : ""}.`);
      return;
    }
    this.typing = false;
    this.accept();
    if (number === this.number()) {
      this.draw();
    } else {
      this.commit(number);
    }
  }

  private step(times: number): void {
    this.take();
    const size = (Number(this.option("step", "1")) || 1) * this.unitNow().factor;
    const next = tidy((this.number() ?? 0) + times * size);
    this.accept();
    this.commit(Math.min(this.limit("max") ?? Infinity, Math.max(this.limit("min") ?? -Infinity, next)));
  }

  private onKey(event: KeyboardEvent): void {
    const times = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (times !== undefined && !this.disabled) {
      event.preventDefault();
      this.step(times);
    } else if (event.key === "Enter") {
      this.take();
      this.submit();
    } else if (event.key === "Escape" && this.typing) {
      this.typing = false;
      this.accept();
      this.draw();
    }
  }
}

customElements.define("ui-number", UiNumber);
