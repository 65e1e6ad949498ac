/** What the views of a page share. */
import type { Short } from "../protocol";
import type { Template } from "./template";
import type { View } from "./view";

export interface PageContext {
  readonly views: Map<number, View>;
  template(key: string): Template | undefined;
  /** Send a user event; `origin` finds its binding again after a reconnect. */
  send(short: Short, origin: Origin): void;
  /** Load the definitions of custom elements. */
  define(tags: ReadonlySet<string>): void;
  /** The content of `node` has changed, which may scroll an element with `scrollOnOutput`. */
  touched(node: Node): void;
  readonly scrollers: Set<Element>;
  /** Tell the server that a binding of a third-party custom element is two-way. */
  editable(key: string, position: number): void;
  /** Tell the server what went wrong in this page, once. */
  report(problem: FoundProblem): void;
}

/** Something that only the page can notice: `key` and `pos` name the viewdef and the binding, if there is one. */
export interface FoundProblem {
  readonly kind: "code" | "script";
  readonly message: string;
  readonly key?: string;
  readonly pos?: number;
  readonly source?: string;
}

export interface Origin {
  readonly element: Element;
  readonly attribute: string;
  readonly priority: number;
}
