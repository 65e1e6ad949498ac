/** Stand-ins for elements whose libraries are too large for a document that MCP hosts load whole: plain text instead. */
import { make, plainText, styleSheet, UiElement } from "../elements/base";
import { FieldElement } from "../elements/field";

const sheet = styleSheet("textarea, pre { width: 100%; font-family: var(--term-mono); } .box > textarea { border: 0; background: none; }");

class PlainEditor extends FieldElement {
  protected readonly control = make("textarea", { rows: 10, spellcheck: "false" });

  constructor() {
    super(sheet);
    this.box.append(this.control);
    this.control.addEventListener("change", () => this.commit(this.control.value));
  }

  protected renderControl(): void {
    this.control.readOnly = this.hasAttribute("readonly");
    if (this.control.value !== plainText(this.value)) {
      this.control.value = plainText(this.value);
    }
  }
}

class PlainDiagram extends UiElement {
  private readonly text = make("pre", { tabindex: 0 });

  constructor() {
    super(sheet);
    this.root.append(this.text);
  }

  protected render(): void {
    this.text.textContent = plainText(this.value) || this.textContent;
  }
}

customElements.define("ui-editor", PlainEditor);
customElements.define("ui-mermaid", PlainDiagram);
