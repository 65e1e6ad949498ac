/** A tree as rows that open and close, moved through by keyboard; `ui-tree` and `ui-json` are made of it. */
import { make } from "./base";

export interface TreeNode {
  /** The same for the same node after the data was sent again. */
  readonly key: string;
  readonly text: string;
  readonly content: readonly (Node | string)[];
  /** Made when the node is opened; null for a leaf. */
  readonly children: (() => readonly TreeNode[]) | null;
  readonly checked?: boolean | undefined;
}

export interface TreeHooks {
  readonly open: (node: TreeNode) => boolean;
  readonly toggle: (node: TreeNode, open: boolean) => void;
  readonly select?: (node: TreeNode) => void;
  readonly check?: (node: TreeNode) => void;
  readonly selected: () => string | null;
}

interface Place {
  readonly node: TreeNode;
  readonly level: number;
  readonly at: number;
  readonly of: number;
  readonly parent: number;
}

export class TreeView {
  readonly element = make("div.tree", { role: "tree" });
  private places: Place[] = [];
  private roots: readonly TreeNode[] = [];
  private current = 0;
  private typed = "";
  private typedAt = 0;

  constructor(private readonly hooks: TreeHooks) {
    this.element.addEventListener("keydown", (event) => this.onKey(event));
    this.element.addEventListener("click", (event) => this.onClick(event));
  }

  show(roots: readonly TreeNode[]): void {
    const key = this.places[this.current]?.node.key;
    this.roots = roots;
    this.places = [...this.flat(roots, 1, -1)];
    const found = this.places.findIndex(({ node }) => node.key === key);
    this.current = found < 0 ? Math.min(this.current, Math.max(0, this.places.length - 1)) : found;
    const focused = this.element.contains((this.element.getRootNode() as ShadowRoot).activeElement);
    this.element.replaceChildren(...this.places.map((place, at) => this.row(place, at)));
    if (focused) {
      this.focus(this.current);
    }
  }

  private *flat(nodes: readonly TreeNode[], level: number, parent: number, from = { count: 0 }): Iterable<Place> {
    for (const [at, node] of nodes.entries()) {
      const own = from.count++;
      yield { node, level, at: at + 1, of: nodes.length, parent };
      if (node.children !== null && this.hooks.open(node)) {
        yield* this.flat(node.children(), level + 1, own, from);
      }
    }
  }

  private row({ node, level, at, of }: Place, index: number): HTMLElement {
    const open = node.children === null ? null : this.hooks.open(node);
    const arrow = make("span.arrow", { "aria-hidden": "true" }, open === null ? "" : open ? "▾" : "▸");
    const box = node.checked === undefined ? null : make("span.check", { "aria-hidden": "true" }, node.checked ? "☑" : "☐");
    const row = make("div.node", {
      role: "treeitem", tabindex: index === this.current ? 0 : -1, "data-at": index, "aria-level": level, "aria-posinset": at, "aria-setsize": of,
      "aria-expanded": open === null ? false : String(open), "aria-selected": String(node.key === this.hooks.selected()), "aria-label": node.text,
      "aria-checked": node.checked === undefined ? false : String(node.checked),
    }, arrow, box, ...node.content);
    row.style.paddingInlineStart = `${(level - 1) * 1.1 + 0.3}rem`;
    return row;
  }

  private focus(at: number): void {
    this.element.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
    this.current = at;
    const row = this.element.children[at] as HTMLElement | undefined;
    row?.setAttribute("tabindex", "0");
    row?.focus();
  }

  private onClick(event: MouseEvent): void {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-at]") : null;
    const place = row === null ? undefined : this.places[Number(row.dataset["at"])];
    if (row === null || place === undefined) {
      return;
    }
    this.focus(Number(row.dataset["at"]));
    if ((event.target as Element).matches(".check")) {
      this.hooks.check?.(place.node);
    } else if ((event.target as Element).matches(".arrow") || this.hooks.select === undefined) {
      this.turn(place, !this.hooks.open(place.node));
    } else {
      this.hooks.select(place.node);
    }
  }

  private turn({ node }: Place, open: boolean): void {
    if (node.children !== null && this.hooks.open(node) !== open) {
      this.hooks.toggle(node, open);
      this.show(this.roots);
    }
  }

  private onKey(event: KeyboardEvent): void {
    const place = this.places[this.current];
    if (place === undefined || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const open = place.node.children !== null && this.hooks.open(place.node);
    const last = this.places.length - 1;
    const acts: Readonly<Record<string, () => void>> = {
      ArrowDown: () => this.focus(Math.min(last, this.current + 1)),
      ArrowUp: () => this.focus(Math.max(0, this.current - 1)),
      Home: () => this.focus(0),
      End: () => this.focus(last),
      ArrowRight: () => (open ? this.focus(Math.min(last, this.current + 1)) : this.turn(place, true)),
      ArrowLeft: () => (open ? this.turn(place, false) : this.focus(Math.max(0, place.parent))),
      Enter: () => (this.hooks.select === undefined ? this.turn(place, !open) : this.hooks.select(place.node)),
      " ": () => (place.node.checked === undefined ? this.hooks.select?.(place.node) : this.hooks.check?.(place.node)),
    };
    const act = acts[event.key];
    if (act !== undefined) {
      act();
    } else if (event.key.length === 1) {
      this.find(event.key, event.timeStamp);
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Go to the next row that begins with what was typed. */
  private find(letter: string, time: number): void {
    this.typed = time - this.typedAt > 700 ? letter.toLowerCase() : this.typed + letter.toLowerCase();
    this.typedAt = time;
    const from = this.typed.length === 1 ? this.current + 1 : this.current;
    const order = this.places.map((_, index) => (from + index) % this.places.length);
    const found = order.find((at) => this.places[at]?.node.text.toLowerCase().startsWith(this.typed));
    if (found !== undefined) {
      this.focus(found);
    }
  }
}
