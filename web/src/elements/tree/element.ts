/** `ui-tree`: nested Lua tables as a tree; events name the very table. */
import { make, plainText, styleSheet, UiElement } from "../base";
import { type Item, reference, textFields } from "../items";
import { type TreeNode, TreeView } from "../tree_view";
import treeCss from "../tree_view.css?inline";

const sheet = styleSheet(treeCss);

class UiTree extends UiElement {
  private readonly opened = new Map<string, boolean>();
  private selected: string | null = null;
  private items = new Map<string, Item>();
  private readonly state = make("div.state", { role: "status" });
  private readonly view = new TreeView({
    open: (node) => this.opened.get(node.key) ?? this.items.get(node.key)?.["open"] === true,
    toggle: (node, open) => this.toggle(node, open),
    select: (node) => this.select(node),
    check: (node) => this.check(node),
    selected: () => this.selected,
  });

  constructor() {
    super(sheet);
    this.root.append(this.view.element, this.state);
  }

  protected render(): void {
    const list = Array.isArray(this.value) ? (this.value as Item[]) : [];
    this.items = new Map();
    this.view.element.setAttribute("aria-label", this.option("label", "Tree"));
    this.view.element.style.maxHeight = this.option("height", "26rem");
    this.view.element.hidden = list.length === 0;
    this.state.textContent = list.length === 0 ? this.option("empty", "Nothing here yet.") : "";
    this.view.show(list.map((item, at) => this.node(item, String(at))));
  }

  private node(item: Item, place: string): TreeNode {
    const key = item.$ === undefined ? place : String(item.$);
    const text = typeof item === "object" ? textFields(item, this.option("text")) : plainText(item);
    const inner = Array.isArray(item["children"]) ? (item["children"] as Item[]) : null;
    const icon = plainText(item["icon"]);
    this.items.set(key, item);
    return {
      key, text, content: [icon !== "" ? make("span", { "aria-hidden": "true" }, icon) : "", make("span.name", {}, text)],
      children: inner === null ? null : () => inner.map((child, at) => this.node(child, `${place}/${at}`)),
      checked: this.hasAttribute("checks") ? item["checked"] === true : undefined,
    };
  }

  /** An app that keeps track of open nodes is notified; else the element remembers them. */
  private toggle(node: TreeNode, open: boolean): void {
    const item = this.items.get(node.key);
    this.opened.set(node.key, open);
    if (item?.["open"] !== undefined) {
      this.ask({ item: item.$, set: { open } });
    }
    if (open && item !== undefined) {
      this.tell("open", reference(item));
    }
  }

  private select(node: TreeNode): void {
    const item = this.items.get(node.key);
    this.selected = node.key;
    this.draw();
    if (item !== undefined) {
      this.tell("select", reference(item));
    }
  }

  private check(node: TreeNode): void {
    const item = this.items.get(node.key);
    if (item !== undefined) {
      this.ask({ item: item.$, set: { checked: item["checked"] !== true } });
      this.tell("change", reference(item));
    }
  }
}

customElements.define("ui-tree", UiTree);
