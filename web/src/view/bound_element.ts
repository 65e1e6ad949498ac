/** One element of a view with its bindings, also after a view or HTML has replaced it. */
import type { Access, Bound } from "../bindings/binding";
import { isEditable } from "../bindings/fields";
import type { Json } from "../protocol";
import { clearErrorMark, markError } from "./error_mark";
import type { PageContext } from "./page_context";
import type { BindingSpec, ElementSpec } from "./template";
import type { Survivors, View } from "./view";

/** Consecutive nodes of a view. */
export interface NodeRange {
  nodes(): Node[];
  /** The element that bindings act on. */
  main(): Element;
}

interface Live {
  readonly spec: BindingSpec;
  bound: Bound | null;
  value: Json | undefined;
}

const PRIORITY: Readonly<Record<string, number>> = { high: 0, medium: 1, low: 2 };

const registered = new WeakMap<Element, BoundElement>();

/** The bound elements that an element represents: its own, and those of `ui-view` elements that it fills. */
export function* boundElementsOf(element: Element): Iterable<BoundElement> {
  for (let found = registered.get(element); found !== undefined; found = found.outer) {
    if (!found.released) {
      yield found;
    }
  }
}

export class BoundElement implements NodeRange {
  private readonly live: Live[];
  private replacement: Node[] | null = null;
  outer: BoundElement | undefined;
  released = false;
  private failed = new Map<number, Element>();

  constructor(
    readonly page: PageContext,
    readonly view: View,
    readonly spec: ElementSpec,
    public element: Element,
  ) {
    this.live = spec.specs.map((one) => ({ spec: one, bound: null, value: undefined }));
  }

  nodes(): Node[] {
    return this.replacement ?? [this.element];
  }

  main(): Element {
    return this.element;
  }

  fill(): void {
    // Only nested views and lists have content to build.
  }

  settle(survivors: Survivors, values: readonly Json[]): void {
    const kept = survivors?.has(this.element) ?? false;
    this.element = (survivors?.get(this.element) as Element | undefined) ?? this.element;
    if (kept) {
      clearErrorMark(this.element); // it was set for the old template; the server repeats errors that persist
    }
    this.bind(values, kept);
  }

  *views(): Iterable<View> {
    // A plain element holds no views.
  }

  /** Attach all bindings to the element and write the values. */
  bind(values: readonly Json[], kept: boolean): void {
    this.register();
    if (this.spec.scrolls) {
      this.page.scrollers.add(this.element);
    }
    for (const live of this.live) {
      live.value = values[live.spec.position];
      this.attach(live, this.element, kept);
      // null leaves the author's own text in place, unless the element shows an older value.
      if (live.value !== undefined && (live.value !== null || kept)) {
        live.bound?.write?.(live.value);
      }
    }
  }

  /** Attach all bindings to the element that replaces the present one, and write the last values. */
  moveTo(element: Element, nodes: Node[] | null = null): void {
    if (element === this.element) {
      this.rewrite();
      return;
    }
    this.page.scrollers.delete(this.element);
    this.element = element;
    this.replacement = nodes;
    this.register();
    if (this.spec.scrolls) {
      this.page.scrollers.add(element);
    }
    for (const live of this.live) {
      if (live.spec.attribute === "ui-html" && nodes !== null) {
        continue;
      }
      live.bound?.release?.();
      this.attach(live, element, false);
      if (live.value !== undefined && live.value !== null) {
        live.bound?.write?.(live.value);
      }
    }
  }

  private rewrite(): void {
    for (const { bound, value } of this.live) {
      if (value !== undefined && value !== null) {
        bound?.write?.(value);
      }
    }
  }

  write(position: number, value: Json): void {
    const live = this.live.find((one) => one.spec.position === position);
    this.clearError(position);
    if (live === undefined) {
      return;
    }
    live.value = value;
    live.bound?.write?.(value);
    if (!(live.spec.attribute === "ui-value" && live.spec.access !== "r")) {
      this.page.touched(this.element);
    }
  }

  valueAt(position: number): Json {
    return this.live.find((one) => one.spec.position === position)?.value ?? null;
  }

  /** The attached `ui-value`. */
  value(): Bound | null {
    return this.live.find((one) => one.spec.attribute === "ui-value")?.bound ?? null;
  }

  /** The position of an attribute's binding. */
  positionOf(attribute: string): number | undefined {
    return this.live.find((one) => one.spec.attribute === attribute)?.spec.position;
  }

  send(attribute: string, value?: Json): void {
    const live = this.live.find((one) => one.spec.attribute === attribute);
    if (live !== undefined) {
      this.post(live.spec, value);
    }
  }

  release(): void {
    this.released = true;
    this.page.scrollers.delete(this.element);
    for (const live of this.live) {
      live.bound?.release?.();
    }
  }

  showError(position: number, code: string, description: string): void {
    const { element } = this;
    markError(element, code, description);
    this.failed.set(position, element);
  }

  clearError(position: number): void {
    const element = this.failed.get(position);
    this.failed.delete(position);
    if (element !== undefined && this.failed.size === 0) {
      clearErrorMark(element);
      clearErrorMark(this.element);
    }
  }

  private register(): void {
    if (registered.has(this.element)) {
      const [present] = boundElementsOf(this.element);
      this.outer = present === this ? this.outer : present;
    }
    registered.set(this.element, this);
  }

  private attach(live: Live, element: Element, kept: boolean): void {
    const { spec } = live;
    live.bound = spec.binding.bind({
      element,
      argument: spec.argument,
      text: spec.text,
      kept,
      access: this.accessOf(spec, element),
      send: (value) => this.post(spec, value),
      syncValue: () => this.value()?.sync?.(),
      liveValue: () => this.value()?.read?.() ?? valueOf(element),
      hasSibling: (attribute) => this.spec.attributes.has(attribute),
      replaced: (nodes) => {
        const first = nodes.find((node): node is Element => node instanceof Element);
        if (first !== undefined) {
          this.moveTo(first, nodes);
          this.view.partMoved(this);
        }
      },
      report: (message) => this.page.report({ kind: "code", message, key: this.view.template.key, pos: spec.position }),
      variable: () => ({
        varId: -(this.view.number + spec.position),
        parentId: -this.view.number,
        value: live.value ?? null,
        properties: { path: spec.text.path, access: spec.access, elementId: element.id },
      }),
    });
  }

  private accessOf(spec: BindingSpec, element: Element): Access {
    const foreign = spec.attribute === "ui-value" && element.localName.includes("-") && !/^(?:sl|ui)-/.test(element.localName);
    if (!foreign || spec.text.options.has("access")) {
      return spec.access;
    }
    const editable = isEditable(element) && !spec.text.calls;
    if (editable) {
      this.page.editable(this.view.template.key, spec.position);
    }
    return editable ? "rw" : "r";
  }

  private post(spec: BindingSpec, value?: Json): void {
    const short: [number, number, Json?] = [this.view.number, spec.position];
    if (value !== undefined) {
      short.push(value);
    }
    const priority = PRIORITY[spec.text.options.get("priority") ?? ""] ?? (spec.attribute.startsWith("ui-event-") ? 2 : 1);
    this.page.send(short, { element: this.element, attribute: spec.attribute, priority });
  }
}

function valueOf(element: Element): Json {
  return "value" in element ? ((element.value ?? null) as Json) : null;
}
