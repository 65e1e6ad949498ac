/** `ui-markdown`: shows Markdown; HTML in it is shown as text, and pictures of other machines become links. */
import { plainText, styleSheet, UiElement } from "../base";
import codeCss from "../code.css?inline";
import css from "./markdown.css?inline";
import { dedented, rendered } from "./render";

const sheets = [css, codeCss].map(styleSheet);

class UiMarkdown extends UiElement {
  private readonly body = document.createElement("div");
  private shown: string | null = null;

  constructor() {
    super(...sheets);
    this.body.className = "body";
    this.root.append(this.body);
  }

  protected render(): void {
    // Without a value the author's own text is shown.
    const text = this.value === null || this.value === undefined ? dedented(this.textContent) : plainText(this.value);
    if (text !== this.shown) {
      this.shown = text;
      this.body.innerHTML = rendered(text);
    }
  }
}

customElements.define("ui-markdown", UiMarkdown);
