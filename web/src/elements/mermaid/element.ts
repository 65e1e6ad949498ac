/** `ui-mermaid`: a diagram from its text. */
import mermaid from "mermaid";
import { make, plainText, styleSheet, UiElement } from "../base";
import css from "./mermaid.css?inline";

const sheet = styleSheet(css);
let numbers = 0;

class UiMermaid extends UiElement {
  private readonly picture = make("div.picture", { role: "img", tabindex: 0 });
  private readonly problem = make("div.problem", { role: "alert", hidden: true });
  private readonly source = make("pre.quiet");
  private drawn = "";
  private readonly themed = new MutationObserver(() => this.draw());

  constructor() {
    super(sheet);
    this.root.append(this.picture, this.problem, this.source);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.themed.observe(document.documentElement, { attributes: true, attributeFilter: ["class"] });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.themed.disconnect();
  }

  protected render(): void {
    const text = (plainText(this.value) || this.textContent).trim();
    const look = this.look();
    const wanted = `${text}\n${JSON.stringify(look)}`;
    this.picture.setAttribute("aria-label", this.option("label", "Diagram"));
    this.source.textContent = text;
    if (wanted !== this.drawn) {
      this.drawn = wanted;
      void this.paint(text, look, wanted);
    }
  }

  private async paint(text: string, look: Record<string, string | boolean>, wanted: string): Promise<void> {
    let [svg, problem] = ["", ""];
    try {
      mermaid.initialize({ startOnLoad: false, securityLevel: "strict", theme: "base", themeVariables: look, suppressErrorRendering: true, htmlLabels: false });
      svg = text === "" ? "" : (await mermaid.render(`mermaid-${(numbers += 1)}`, text)).svg;
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
    if (wanted === this.drawn) {
      // What was drawn last stays while the text has a mistake.
      if (problem === "") {
        this.picture.innerHTML = svg;
      }
      this.problem.hidden = problem === "";
      this.problem.textContent = problem;
    }
  }

  private look(): Record<string, string | boolean> {
    const style = getComputedStyle(this);
    const read = (name: string): string => style.getPropertyValue(name).trim();
    return {
      darkMode: style.colorScheme === "dark", fontFamily: read("--term-sans"), background: read("--term-bg-elevated"), primaryColor: read("--term-bg-hover"), primaryTextColor: read("--term-text"),
      primaryBorderColor: read("--term-accent"), lineColor: read("--term-text-dim"), textColor: read("--term-text"), secondaryColor: read("--term-bg"), tertiaryColor: read("--term-bg"), noteBkgColor: read("--term-bg-hover"), noteTextColor: read("--term-text"),
    };
  }
}

customElements.define("ui-mermaid", UiMermaid);
