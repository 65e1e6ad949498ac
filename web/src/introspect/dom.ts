/** The page as one tree, across shadow roots and same-origin frames. */

const SKIPPED = new Set(["script", "style", "template", "noscript", "link", "meta", "head", "title", "base"]);

export function rootOf(page: { readonly body: Element | null; readonly documentElement: Element }): Element {
  return page.body ?? page.documentElement;
}

/** Child elements in document order: those of the shadow root first; of a frame, its body. */
export function composedChildren(element: Element): Element[] {
  const frame = element.localName === "iframe" ? frameRoot(element as HTMLIFrameElement) : null;
  if (frame) return [frame];
  const light = element.children;
  const shadow = element.shadowRoot?.children;
  const all = shadow ? [...shadow, ...light] : [...light];
  return all.filter((child) => !SKIPPED.has(child.localName));
}

/** The body inside a frame, or null if it is of another origin. */
export function frameRoot(frame: HTMLIFrameElement): Element | null {
  try {
    return frame.contentDocument ? rootOf(frame.contentDocument) : null;
  } catch {
    return null;
  }
}

/** The parent, across shadow roots and frames. */
export function composedParent(element: Element): Element | null {
  if (element.parentElement) return element.parentElement;
  const root = element.getRootNode();
  if (root.nodeType === Node.DOCUMENT_FRAGMENT_NODE) return (root as ShadowRoot).host;
  return element.ownerDocument.defaultView?.frameElement ?? null;
}

export function composedContains(outer: Element, inner: Element | null): boolean {
  for (let at = inner; at; at = composedParent(at)) {
    if (at === outer) return true;
  }
  return false;
}

/** Whether an element is shown, or its content where it has no box of its own, as slots have none. */
export function isShown(element: Element): boolean {
  let at: Element | null = element;
  while (at && getComputedStyle(at).display === "contents") at = at.assignedSlot ?? composedParent(at);
  return at !== null && at.checkVisibility();
}

/** The focused element, inside shadow roots and frames. */
export function deepFocus(): Element | null {
  let at: Element | null = document.activeElement;
  for (;;) {
    const inner: Element | null = at?.shadowRoot?.activeElement
      ?? (at?.localName === "iframe" ? frameRoot(at as HTMLIFrameElement)?.ownerDocument.activeElement ?? null : null);
    if (!inner || inner === at) return at;
    at = inner;
  }
}

/** The position of a frame's content in the top-level viewport. */
export function frameOffset(page: Document): { x: number; y: number } {
  const frame = page.defaultView?.frameElement;
  if (!frame) return { x: 0, y: 0 };
  const above = frameOffset(frame.ownerDocument);
  const box = frame.getBoundingClientRect();
  return { x: above.x + box.x + frame.clientLeft, y: above.y + box.y + frame.clientTop };
}

/** Every document and open shadow root of the page. */
export function allRoots(): ParentNode[] {
  const roots: ParentNode[] = [];
  const pending: ParentNode[] = [document];
  for (let root = pending.pop(); root; root = pending.pop()) {
    roots.push(root);
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) pending.push(element.shadowRoot);
      const frame = element.localName === "iframe" ? frameRoot(element as HTMLIFrameElement) : null;
      if (frame) pending.push(frame.ownerDocument);
    }
  }
  return roots;
}
