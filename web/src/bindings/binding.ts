/** The interface of bindings. A binding connects one `ui-*` attribute of an element with the server. */
import type { PathText } from "../path";
import type { Json } from "../protocol";

export type Access = "r" | "w" | "rw" | "action";

export interface Context {
  readonly element: Element;
  /** The part of the attribute's name after its prefix: a class, attribute, style property or event. */
  readonly argument: string;
  readonly text: PathText;
  /** The element was on the page before, and may show an older value. */
  readonly kept: boolean;
  readonly access: Access;
  /** Send a value, or call the action without one. */
  readonly send: (value?: Json) => void;
  /** Send the value of the element's `ui-value` unless the server knows it already. */
  readonly syncValue: () => void;
  /** The value that the element shows now. */
  readonly liveValue: () => Json;
  /** Return whether the element has another bound attribute. */
  readonly hasSibling: (attribute: string) => boolean;
  /** Report that other nodes have replaced the element. */
  readonly replaced: (nodes: Node[]) => void;
  /** Tell the server that code of the binding failed. */
  readonly report: (message: string) => void;
  /** The variable behind the binding, as scripts see it. */
  readonly variable: () => unknown;
}

export interface Bound {
  /** Show a value that came from the server. */
  write?(value: Json): void;
  /** The value that the element shows. */
  read?(): Json;
  /** Send the shown value unless the server knows it already. */
  sync?(): void;
  release?(): void;
}

export interface Binding {
  /** The attribute's name, or a prefix ending in "-". */
  readonly attribute: string;
  access(element: Element, text: PathText): Access;
  bind(context: Context): Bound;
}

export const readOnly = (): Access => "r";
export const actionOnly = (): Access => "action";

/** Convert a value, which may also be a list or an object, as JavaScript does. */
export function textOf(value: unknown): string {
  return String(value);
}

/** Add a listener and return a function that removes it. */
export function listen(element: Element, event: string, act: (event: Event) => void): () => void {
  element.addEventListener(event, act);
  return () => element.removeEventListener(event, act);
}
