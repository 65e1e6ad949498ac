/** A place that one view at a time fills. Without a view it is an empty element. */
import type { InlineView } from "../protocol";
import type { NodeRange } from "./bound_element";
import { morph } from "./morph";
import type { PageContext } from "./page_context";
import { bindAndRun } from "./scripts";
import type { InheritedAttributes } from "./template";
import { type Survivors, View } from "./view";

export class ViewPlaceholder implements NodeRange {
  current: View | null = null;
  /** Called when another element inside the view represents it. */
  moved: (() => void) | null = null;
  private empty: Element | null;

  constructor(
    readonly page: PageContext,
    private readonly id: string,
    private readonly inherited: InheritedAttributes,
    /** The template of the empty element. */
    private readonly blank: Element | null,
  ) {
    this.empty = blank;
  }

  nodes(): Node[] {
    return this.current?.nodes() ?? [this.emptyElement()];
  }

  main(): Element {
    return this.current?.main() ?? this.emptyElement();
  }

  /** Build the first view; the caller inserts its nodes. */
  build([number, key, values]: InlineView): Node[] {
    const template = key === 0 ? undefined : this.page.template(key);
    if (template === undefined) {
      return this.nodes();
    }
    this.current = View.build(this.page, number, template, values ?? []);
    this.current.moved = () => this.moved?.();
    return this.current.assemble(this.id, this.inherited);
  }

  settle(survivors: Survivors): void {
    if (this.current === null) {
      this.empty = (survivors?.get(this.emptyElement()) as Element | undefined) ?? this.emptyElement();
    } else {
      this.current.bind(survivors);
    }
  }

  /** Replace the view on the page. Views of the same viewdef are morphed, which keeps focus and typed text. */
  show(view: InlineView | null): void {
    const before = this.current;
    const old = this.nodes();
    this.current = null;
    this.empty = null;
    const next = view === null ? [this.emptyElement()] : this.build(view);
    // Release first: removing a focused field blurs it, which must not be sent as a user event.
    before?.release();
    const survivors = this.swap(old, next, before);
    bindAndRun(
      () => this.settle(survivors),
      () => (this.now() === null ? [] : this.nodes()),
    );
    this.page.touched(this.main());
  }

  remove(): void {
    const nodes = this.nodes();
    this.current?.release();
    for (const node of nodes) {
      (node as ChildNode).remove();
    }
  }

  private swap(old: Node[], next: Node[], before: View | null): Survivors {
    const alike = before !== null && this.now()?.template.key === before.template.key;
    if (alike) {
      return morph(old, next);
    }
    const [first, ...rest] = old as ChildNode[];
    first?.replaceWith(...next);
    rest.forEach((node) => node.remove());
    return null;
  }

  /** Works around narrowing: `build` may have set it. */
  private now(): View | null {
    return this.current;
  }

  private emptyElement(): Element {
    if (this.empty === null) {
      this.empty = (this.blank?.cloneNode(false) as Element | undefined) ?? document.createElement("div");
      this.empty.replaceChildren();
      if (this.blank === null) {
        this.empty.className = this.inherited.className;
      }
      if (this.id !== "") {
        this.empty.id = this.id;
      }
    }
    return this.empty;
  }
}
