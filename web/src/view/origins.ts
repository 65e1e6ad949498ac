/** The template's element of each custom element, to distinguish authored attributes from reflected ones. */
export const origins = new WeakMap<Element, Element>();
