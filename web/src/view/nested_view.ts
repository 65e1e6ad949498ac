/** A `ui-view` element: a placeholder whose other bindings apply to the view that fills it. */
import { isInlineView, type InlineView, type Json } from "../protocol";
import type { NodeRange, BoundElement } from "./bound_element";
import type { PageContext } from "./page_context";
import { inheritedFrom } from "./template";
import type { Survivors, View } from "./view";
import { ViewPlaceholder } from "./view_placeholder";

export class NestedView implements NodeRange {
  private readonly inner: ViewPlaceholder;

  constructor(
    page: PageContext,
    readonly view: View,
    readonly host: BoundElement,
    private readonly element: Element,
  ) {
    this.inner = new ViewPlaceholder(page, element.id, inheritedFrom(element), element);
    this.inner.moved = () => this.follow();
  }

  nodes(): Node[] {
    return this.inner.nodes();
  }

  main(): Element {
    return this.inner.main();
  }

  fill(values: readonly Json[]): void {
    const entry = values[this.host.spec.view];
    if (isInlineView(entry)) {
      const nodes = this.inner.build(entry);
      if (nodes[0] !== this.element) {
        this.element.replaceWith(...nodes);
      }
    }
  }

  settle(survivors: Survivors, values: readonly Json[]): void {
    this.inner.settle(survivors);
    const main = this.inner.main();
    this.host.element = main;
    this.host.bind(values, survivors !== null && this.inner.current === null);
  }

  show(view: InlineView | null): void {
    this.inner.show(view);
    this.follow();
  }

  private follow(): void {
    this.host.moveTo(this.inner.main());
    this.view.partMoved(this);
  }

  *views(): Iterable<View> {
    if (this.inner.current !== null) {
      yield this.inner.current;
    }
  }

  release(): void {
    this.host.release();
    this.inner.current?.release();
  }
}
