/** One rendered viewdef of one object. */
import type { Json } from "../protocol";
import { type NodeRange, BoundElement } from "./bound_element";
import { vendId } from "./ids";
import { List } from "./list";
import { NestedView } from "./nested_view";
import { origins } from "./origins";
import type { PageContext } from "./page_context";
import { holdScripts } from "./scripts";
import { follow, type InheritedAttributes, type Template } from "./template";

/** Maps the nodes of a newly built view to the old ones that morphing kept; null if nothing was morphed. */
export type Survivors = ReadonlyMap<Node, Node> | null;

type Part = BoundElement | NestedView | List;

export class View {
  private readonly parts: Part[] = [];
  private readonly byPosition: (Part | undefined)[];
  private roots: (Node | NodeRange)[] = [];
  /** Called when another element represents this view. */
  moved: (() => void) | null = null;

  private constructor(
    readonly page: PageContext,
    readonly number: number,
    readonly template: Template,
    private values: readonly Json[],
  ) {
    this.byPosition = new Array<Part | undefined>(template.size);
  }

  /** Create and register a view; `assemble` builds its nodes, `bind` connects them. */
  static build(page: PageContext, number: number, template: Template, values: readonly Json[]): View {
    const view = new View(page, number, template, values);
    page.views.set(number, view);
    page.define(template.tags);
    return view;
  }

  /** Clone the template and build all views inside it. The id and the attributes are those of the replaced element. */
  assemble(id: string, inherited: InheritedAttributes): Node[] {
    const { template } = this;
    const content = document.importNode(template.content, true);
    const elements = template.elements.map((spec) => follow(content, spec.path));
    for (const path of template.customs) {
      origins.set(follow(content, path), follow(template.content, path));
    }
    if (template.hasScripts) {
      holdScripts(content);
    }
    this.roots = [...content.childNodes];
    this.markRoots(id, inherited);
    template.elements.forEach((spec, index) => this.addPart(spec.view, spec.list, index, elements[index] as Element));
    return this.nodes();
  }

  /** Bind all elements, outer ones first; `survivors` maps them to those that morphing kept. */
  bind(survivors: Survivors): void {
    this.roots = this.roots.map((root) => (root instanceof Node ? (survivors?.get(root) ?? root) : root));
    for (const part of this.parts) {
      part.settle(survivors, this.values);
    }
    this.values = [];
  }

  nodes(): Node[] {
    return this.roots.length === 1 && this.roots[0] instanceof Node
      ? [this.roots[0]]
      : this.roots.flatMap((root) => (root instanceof Node ? [root] : root.nodes()));
  }

  /** The element that represents the view: the first root that is neither script nor style. */
  main(): Element {
    const places = this.roots.map((root) => (root instanceof Node ? root : root.main()));
    const elements = places.filter((node): node is Element => node instanceof Element);
    return elements.find((element) => !isInvisible(element)) ?? elements[0] ?? document.createElement("div");
  }

  part(position: number): Part | undefined {
    return this.byPosition[position];
  }

  bound(position: number): BoundElement | undefined {
    const part = this.byPosition[position];
    return part instanceof BoundElement ? part : part?.host;
  }

  *children(): Iterable<View> {
    for (const part of this.parts) {
      yield* part.views();
    }
  }

  release(): void {
    if (this.page.views.get(this.number) === this) {
      this.page.views.delete(this.number);
    }
    for (const part of this.parts) {
      part.release();
    }
  }

  /** Report that the element of `part` has changed; placeholders further out may be represented by it too. */
  partMoved(part: NodeRange): void {
    if (this.roots.includes(part)) {
      this.moved?.();
    }
  }

  private addPart(viewPosition: number, listPosition: number, index: number, element: Element): void {
    const spec = this.template.elements[index];
    if (spec === undefined) {
      return;
    }
    if (element.id === "") {
      element.id = vendId();
    }
    const boundElement = new BoundElement(this.page, this, spec, element);
    const part =
      viewPosition >= 0
        ? new NestedView(this.page, this, boundElement, element)
        : listPosition >= 0
          ? new List(this.page, this, boundElement, listPosition)
          : boundElement;
    this.parts.push(part);
    for (const one of spec.specs) {
      this.byPosition[one.position] = boundElement;
    }
    if (viewPosition >= 0) {
      this.byPosition[viewPosition] = part;
    } else if (listPosition >= 0) {
      this.byPosition[listPosition] = part;
    }
    const root = this.roots.indexOf(element);
    if (root >= 0 && !(part instanceof List)) {
      this.roots[root] = part;
    }
    part.fill(this.values);
  }

  private markRoots(id: string, inherited: InheritedAttributes): void {
    const elements = this.roots.filter((root): root is Element => root instanceof Element);
    elements.forEach((element, index) => {
      element.classList.add(`ui-view-${this.number}`);
      if (index > 0 && element.id === "" && !isInvisible(element)) {
        element.id = vendId();
      }
    });
    const visible = elements.find((element) => !isInvisible(element)) ?? elements[0];
    if (visible === undefined) {
      return;
    }
    visible.setAttribute("ui-viewdef", this.template.key);
    inherit(visible, id, inherited);
  }
}

function isInvisible(element: Element): boolean {
  return element.localName === "script" || element.localName === "style";
}

function inherit(element: Element, id: string, { className, style, slot }: InheritedAttributes): void {
  if (id !== "" && (element.id === "" || !/^ui-\d+$/.test(id))) {
    element.id = id;
  }
  if (className !== "") {
    element.classList.add(...className.split(/\s+/).filter(Boolean));
  }
  if (style !== "") {
    const own = element.getAttribute("style");
    element.setAttribute("style", own === null ? style : `${own.replace(/;?\s*$/, ";")} ${style}`);
  }
  if (slot !== "") {
    element.slot = slot;
  }
}
