/** Elements whose text must not leave the page, by configured selectors. */

import { allRoots, composedParent } from "./dom";
import type { AccessibleText } from "./accessible_text";

export interface Secrets {
  has(element: Element): boolean;
  /** Whether an ancestor is secret. */
  below(element: Element): boolean;
  /** Whether a descendant is secret. */
  around(element: Element): boolean;
  /** Mask the text of an element as far as needed. */
  kept(element: Element, words: AccessibleText, secret: boolean): AccessibleText;
}

const NOTHING: Secrets = { has: () => false, below: () => false, around: () => false, kept: (_element, words) => words };

/** Find the secret elements. Selectors that are invalid in this browser are ignored. */
export function secretsOf(selectors: string[]): Secrets {
  if (!selectors.length) return NOTHING;
  const hidden = new Set(allRoots().flatMap((root) => selectors.flatMap((css) => selected(root, css))));
  const outer = new Set<Element>();
  for (const element of hidden) {
    for (let at = composedParent(element); at && !outer.has(at); at = composedParent(at)) outer.add(at);
  }
  const labelled = (element: Element) => [...((element as HTMLInputElement).labels ?? [])].some((label) => hidden.has(label) || outer.has(label));
  return {
    has: (element) => hidden.has(element),
    below(element) {
      for (let at = composedParent(element); at; at = composedParent(at)) if (hidden.has(at)) return true;
      return false;
    },
    around: (element) => outer.has(element),
    kept(element, words, secret) {
      if (secret) return { masked: true, leaf: words.leaf };
      if (outer.has(element)) return { leaf: false };
      if (!labelled(element)) return words;
      const unlabelled = { ...words };
      delete unlabelled.label;
      return unlabelled;
    },
  };
}

function selected(root: ParentNode, css: string): Element[] {
  try {
    return [...root.querySelectorAll(css)];
  } catch {
    return [];
  }
}
