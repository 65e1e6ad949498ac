/** What the server knows of each field, so that half-typed text is told from sent text when a view is drawn again. */
import type { Json } from "../protocol";

const known = new WeakMap<Element, Json>();

export function knownValue(element: Element): Json | undefined {
  return known.get(element);
}

export function rememberValue(element: Element, value: Json): void {
  known.set(element, value);
}

/** Let `successor` count as the field that `element` was. */
export function inheritValue(element: Element, successor: Element): void {
  const value = known.get(element);
  if (value !== undefined) {
    known.set(successor, value);
  }
}
