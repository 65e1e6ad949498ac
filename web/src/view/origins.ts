/** The template's own element behind each custom element, to tell authored attributes from reflected ones. */
export const origins = new WeakMap<Element, Element>();
