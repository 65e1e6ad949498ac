/** `ui-json`: any value as a tree. */
import { iconButton, make, styleSheet, UiElement } from "../base";
import { ICON } from "../icons";
import { type TreeNode, TreeView } from "../tree_view";
import codeCss from "../code.css?inline";
import treeCss from "../tree_view.css?inline";
import css from "./json.css?inline";

const sheets = [treeCss, codeCss, css].map(styleSheet);
const MOST_CHILDREN = 1000;

/** A value in few words. */
function brief(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.length}]`;
  }
  return typeof value === "object" && value !== null ? `{${Object.keys(value).length}}` : JSON.stringify(value ?? null);
}

function nodeOf(name: string, value: unknown, key: string): TreeNode {
  const inner = typeof value === "object" && value !== null;
  const kind = inner ? "plain" : typeof value === "string" ? "string" : typeof value === "number" ? "number" : "keyword";
  return {
    key, text: `${name}: ${brief(value)}`,
    content: [make("span.name", {}, name), make("span.colon", {}, ":"), make("span", { class: `value code-${kind}` }, brief(value))],
    children: inner ? () => entriesOf(value).map(([name, one]) => nodeOf(name, one, `${key}/${name}`)) : null,
  };
}

/** Lists count from 1, as in Lua. */
function entriesOf(value: object): [string, unknown][] {
  const entries = Array.isArray(value) ? value.map((one: unknown, at): [string, unknown] => [String(at + 1), one]) : Object.entries(value);
  return entries.slice(0, MOST_CHILDREN);
}

class UiJson extends UiElement {
  private readonly opened = new Map<string, boolean>();
  private readonly view = new TreeView({
    open: (node) => this.opened.get(node.key) ?? node.key.split("/").length <= Number(this.option("open", "1")),
    toggle: (node, open) => void this.opened.set(node.key, open),
    selected: () => null,
  });
  private readonly copy = iconButton("Copy JSON", ICON.copy, () => void navigator.clipboard.writeText(JSON.stringify(this.value, null, 2)));

  constructor() {
    super(...sheets);
    this.root.append(this.copy, this.view.element);
  }

  protected render(): void {
    this.view.element.setAttribute("aria-label", this.option("label", "Data"));
    this.view.element.style.maxHeight = this.option("height", "26rem");
    let { value } = this;
    if (typeof value === "string" && /^\s*[[{]/.test(value)) {
      try {
        value = JSON.parse(value) as unknown;
      } catch {
        // It is a text, then.
      }
    }
    this.view.show([nodeOf(this.option("label", "value"), value, "")]);
  }
}

customElements.define("ui-json", UiJson);
