/** Compiles a viewdef: its content and the bindings of its elements. */
import type { Access, Binding } from "../bindings/binding";
import { bindingFor } from "../bindings/index";
import { parsePath, type PathText } from "../path";
import { fitHeights } from "./viewport_heights";

export interface BindingSpec {
  readonly position: number;
  readonly attribute: string;
  readonly argument: string;
  readonly binding: Binding;
  readonly text: PathText;
  readonly access: Access;
}

/** The attributes that a view inherits from the element it replaces. */
export interface InheritedAttributes {
  readonly className: string;
  readonly style: string;
  readonly slot: string;
}

export interface ElementSpec {
  /** Child indices from the template's root to the element. */
  readonly path: readonly number[];
  readonly specs: readonly BindingSpec[];
  /** Position of `ui-view` on this element, or -1. */
  readonly view: number;
  /** Position of `ui-viewlist` on this element, or -1. */
  readonly list: number;
  readonly row: InheritedAttributes | null;
  readonly scrolls: boolean;
  readonly attributes: ReadonlySet<string>;
}

export interface Template {
  readonly key: string;
  readonly html: string;
  readonly content: DocumentFragment;
  readonly elements: readonly ElementSpec[];
  /** The number of binding positions. */
  readonly size: number;
  readonly hasScripts: boolean;
  /** The paths of the custom elements. */
  readonly customs: readonly (readonly number[])[];
  readonly tags: ReadonlySet<string>;
}

/** Compile the HTML of a viewdef; `data-ui-b` attributes give the positions of bindings. */
export function compile(key: string, html: string): Template {
  const content = contentOf(html);
  const elements: ElementSpec[] = [];
  let size = 0;
  for (const element of content.querySelectorAll("[data-ui-b]")) {
    const spec = elementSpec(element, content);
    elements.push(spec);
    size = Math.max(size, spec.view + 1, spec.list + 1, ...spec.specs.map(({ position }) => position + 1));
    element.removeAttribute("data-ui-b");
  }
  const customs = [...content.querySelectorAll("*")].filter((element) => element.localName.includes("-"));
  return {
    key,
    html,
    content,
    elements,
    size,
    hasScripts: content.querySelector("script") !== null,
    customs: customs.map((element) => pathTo(element, content)),
    tags: new Set(customs.map((element) => element.localName)),
  };
}

function contentOf(html: string): DocumentFragment {
  const outer = document.createElement("template");
  outer.innerHTML = html;
  const inner = [...outer.content.children].find((child) => child.localName === "template");
  const content = inner instanceof HTMLTemplateElement ? inner.content : outer.content;
  for (const node of [...content.childNodes]) {
    if (node.nodeType === Node.COMMENT_NODE || (node.nodeType === Node.TEXT_NODE && node.textContent?.trim() === "")) {
      node.remove();
    }
  }
  // Remove the exemplars of lists before paths are computed: they only describe rows.
  for (const list of content.querySelectorAll("[ui-viewlist]")) {
    const exemplar = list.firstElementChild;
    if (exemplar !== null) {
      exemplars.set(list, exemplar);
    }
    list.replaceChildren();
  }
  fitHeights(content);
  return content;
}

const exemplars = new WeakMap<Element, Element>();

function elementSpec(element: Element, content: DocumentFragment): ElementSpec {
  const specs: BindingSpec[] = [];
  let view = -1;
  let list = -1;
  let scrolls = false;
  const attributes = new Set<string>();
  for (const stamp of (element.getAttribute("data-ui-b") ?? "").split(";")) {
    const [at, attribute] = stamp.trim().split(" ");
    const position = Number(at);
    if (attribute === undefined) {
      continue;
    }
    attributes.add(attribute);
    const text = parsePath(element.getAttribute(attribute) ?? "");
    scrolls ||= text.options.has("scrollOnOutput");
    if (attribute === "ui-view") {
      view = position;
    } else if (attribute === "ui-viewlist") {
      list = position;
    } else {
      const found = bindingFor(attribute);
      if (found !== null) {
        specs.push({ position, attribute, text, access: accessOf(found.binding, element, text), ...found });
      }
    }
  }
  const row = list < 0 ? null : inheritedFrom(exemplars.get(element));
  return { path: pathTo(element, content), specs, view, list, row, scrolls, attributes };
}

function accessOf(binding: Binding, element: Element, text: PathText): Access {
  const asked = text.options.get("access");
  return asked === "r" || asked === "w" || asked === "rw" || asked === "action" ? asked : binding.access(element, text);
}

export function inheritedFrom(element: Element | undefined): InheritedAttributes {
  return {
    className: element?.getAttribute("class") ?? "",
    style: element?.getAttribute("style") ?? "",
    slot: element?.getAttribute("slot") ?? "",
  };
}

function pathTo(element: Element, root: Node): number[] {
  const path: number[] = [];
  for (let node: Node = element; node !== root; ) {
    const parent: Node | null = node.parentNode;
    if (parent === null) {
      break;
    }
    path.unshift([...parent.childNodes].indexOf(node as ChildNode));
    node = parent;
  }
  return path;
}

export function follow(root: Node, path: readonly number[]): Element {
  let node: Node = root;
  for (const step of path) {
    node = node.childNodes[step] as Node;
  }
  return node as Element;
}
