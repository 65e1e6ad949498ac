/** A `ui-view` element: a hole whose other bindings follow whatever stands there. */
import { isInlineView, type InlineView, type Json } from "../protocol";
import { Hole } from "./hole";
import type { Place, Site } from "./site";
import type { Stage } from "./stage";
import { placeholderOf } from "./template";
import type { Survivors, View } from "./view";

export class Slot implements Place {
  private readonly hole: Hole;

  constructor(
    stage: Stage,
    readonly view: View,
    readonly site: Site,
    private readonly element: Element,
  ) {
    this.hole = new Hole(stage, element.id, placeholderOf(element), element);
    this.hole.moved = () => this.follow();
  }

  nodes(): Node[] {
    return this.hole.nodes();
  }

  main(): Element {
    return this.hole.main();
  }

  fill(values: readonly Json[]): void {
    const entry = values[this.site.spec.view];
    if (isInlineView(entry)) {
      const nodes = this.hole.build(entry);
      if (nodes[0] !== this.element) {
        this.element.replaceWith(...nodes);
      }
    }
  }

  settle(survivors: Survivors, values: readonly Json[]): void {
    this.hole.settle(survivors);
    const main = this.hole.main();
    this.site.element = main;
    this.site.bind(values, survivors !== null && this.hole.current === null);
  }

  show(view: InlineView | null): void {
    this.hole.show(view);
    this.follow();
  }

  private follow(): void {
    this.site.moveTo(this.hole.main());
    this.view.partMoved(this);
  }

  *views(): Iterable<View> {
    if (this.hole.current !== null) {
      yield this.hole.current;
    }
  }

  release(): void {
    this.site.release();
    this.hole.current?.release();
  }
}
