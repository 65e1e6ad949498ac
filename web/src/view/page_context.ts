/** What all views of a page share. */
import type { Short } from "../protocol";
import type { Template } from "./template";
import type { View } from "./view";

export interface PageContext {
  readonly views: Map<number, View>;
  template(key: string): Template | undefined;
  /** Send a short update; `element` and `attribute` find it again after a reconnect. */
  send(short: Short, origin: Origin): void;
  /** A custom element's tag was seen; load what defines it. */
  define(tags: ReadonlySet<string>): void;
  /** The content of `node` changed; whoever scrolls on output wants to know. */
  touched(node: Node): void;
  readonly scrollers: Set<Element>;
  /** A binding of a foreign custom element turned out to be two-way. */
  editable(key: string, position: number): void;
}

export interface Origin {
  readonly element: Element;
  readonly attribute: string;
  readonly priority: number;
}
