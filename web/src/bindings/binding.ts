/** What a `ui-*` attribute is: one object that binds an element and returns how to write to it and how to let go. */
import type { PathText } from "../path";
import type { Json } from "../protocol";

export type Access = "r" | "w" | "rw" | "action";

export interface Context {
  readonly element: Element;
  /** What follows the attribute's prefix: the class, attribute, style property or event. */
  readonly argument: string;
  readonly text: PathText;
  /** The element was already on the page and shows something. */
  readonly kept: boolean;
  readonly access: Access;
  /** Send a value, or call the action without one. */
  readonly send: (value?: Json) => void;
  /** Send the live value of the element's `ui-value` if it is not known to the server yet. */
  readonly syncValue: () => void;
  /** The element's value as its `ui-value` sees it. */
  readonly liveValue: () => Json;
  /** Another attribute of the same element. */
  readonly hasSibling: (attribute: string) => boolean;
  /** The node that stands for the binding's element is now another one. */
  readonly replaced: (nodes: Node[]) => void;
  /** The variable behind the binding, as scripts see it. */
  readonly variable: () => unknown;
}

export interface Bound {
  /** Show a value that came from the server. */
  write?(value: Json): void;
  /** The value the person sees now. */
  read?(): Json;
  /** Send what the person typed if the server does not know it. */
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

/** The text that JavaScript makes of a value; values of bindings may be lists and objects too. */
export function textOf(value: unknown): string {
  return String(value);
}

/** Listen and return what stops listening. */
export function listen(element: Element, event: string, act: (event: Event) => void): () => void {
  element.addEventListener(event, act);
  return () => element.removeEventListener(event, act);
}
