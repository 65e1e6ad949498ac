/** The last value of each field that the server knows, to tell unsent text when a view is rendered again. */
import type { Json } from "../protocol";

const known = new WeakMap<Element, Json>();

export function knownValue(element: Element): Json | undefined {
  return known.get(element);
}

export function rememberValue(element: Element, value: Json): void {
  known.set(element, value);
}

/** Copy the known value of a field to the one that replaces it. */
export function inheritValue(element: Element, successor: Element): void {
  const value = known.get(element);
  if (value !== undefined) {
    known.set(successor, value);
  }
}
