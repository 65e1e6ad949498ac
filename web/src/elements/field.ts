/** What all form fields share: label, help, what is wrong and why, and their part in a `form`. */
import { make, styleSheet, UiElement } from "./base";
import css from "./field.css?inline";

const sheet = styleSheet(css);
let numbers = 0;

/** Attributes of every field, beside its own. */
export abstract class FieldElement extends UiElement {
  static readonly formAssociated = true;
  protected readonly internals = this.attachInternals();
  protected readonly box = make("div.box");
  /** The control that the label names. */
  protected abstract readonly control: HTMLElement;
  private readonly name = make("label.label");
  private readonly help = make("div.help", { id: "help" });
  private readonly problem = make("div.problem", { id: "problem", role: "alert" });
  private touched = false;

  constructor(...sheets: CSSStyleSheet[]) {
    super(sheet, ...sheets);
    this.root.append(this.name, this.box, this.help, this.problem);
    this.whenLeft(() => this.touch());
  }

  override focus(options?: FocusOptions): void {
    this.control.focus(options);
  }

  get disabled(): boolean {
    return this.hasAttribute("disabled");
  }

  checkValidity(): boolean {
    return this.internals.checkValidity();
  }

  /** Show what is wrong, also if the person has not been here yet. */
  reportValidity(): boolean {
    this.touch();
    return this.checkValidity();
  }

  /** Why the value cannot be taken, or "". */
  protected wrong(value: unknown): string {
    const empty = value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
    return empty && this.hasAttribute("required") ? "This field is required." : "";
  }

  /** Draw the control itself. */
  protected abstract renderControl(): void;

  protected override commit(value: unknown): void {
    this.touched = true;
    super.commit(value);
  }

  protected render(): void {
    this.control.id ||= `field-${(numbers += 1)}`;
    const label = this.option("label");
    this.name.htmlFor = this.control.id;
    this.name.id = `${this.control.id}-label`;
    this.name.replaceChildren(label, ...(this.hasAttribute("required") ? [make("span.needed", { "aria-hidden": "true" }, " *")] : []));
    this.name.hidden = label === "";
    if (label === "" && this.hasAttribute("aria-label")) {
      this.control.setAttribute("aria-label", this.option("aria-label"));
    }
    this.help.textContent = this.option("help");
    this.help.hidden = this.help.textContent === "";
    this.control.toggleAttribute("disabled", this.disabled);
    this.control.setAttribute("aria-required", String(this.hasAttribute("required")));
    this.renderControl();
    this.judge();
  }

  /** A message that came with what was typed, before there is a value of it. */
  protected refuse(problem: string): void {
    this.refused = problem;
    this.touched = true;
    this.judge();
  }

  protected accept(): void {
    this.refused = "";
  }

  /** Send the form around it, as Enter does from a field of the browser's own. */
  protected submit(): void {
    this.internals.form?.requestSubmit();
  }

  private refused = "";

  private judge(): void {
    const own = this.refused || this.wrong(this.value);
    const said = this.option("error");
    const problem = said || (this.touched ? own : "");
    this.internals.setFormValue(typeof this.value === "string" ? this.value : JSON.stringify(this.value ?? ""));
    // What the app says is about the value before: it must not keep a form with a corrected one from being sent.
    this.internals.setValidity(own ? { customError: true } : {}, own || undefined, this.control);
    if (this.problem.textContent !== problem) {
      this.problem.textContent = problem;
    }
    this.problem.hidden = problem === "";
    this.control.setAttribute("aria-invalid", String(problem !== ""));
    const described = [...(this.help.hidden ? [] : ["help"]), ...(problem === "" ? [] : ["problem"])];
    this.control.setAttribute("aria-describedby", described.join(" "));
    this.box.classList.toggle("invalid", problem !== "");
  }

  private touch(): void {
    this.touched = true;
    this.judge();
  }
}
