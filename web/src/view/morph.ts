/** Changes the nodes on the page into those of a new view, keeping elements with their focus, caret, scroll position and text. */
import { inheritValue } from "../bindings/known";
import { isVended } from "./ids";
import { match, ownTokens } from "./match";
import { origins } from "./origins";

/** Attributes that are the user's or the page's, not the template's. */
const USER_STATE = new Set(["open", "id"]);

/** Replace `olds` by `news`. Return the old node that continues each new one. */
export function morph(olds: readonly Node[], news: readonly Node[]): Map<Node, Node> {
  const survivors = new Map<Node, Node>();
  const parent = olds[0]?.parentNode;
  if (!parent) {
    return survivors;
  }
  const focus = rememberFocus(olds);
  const scrolled = rememberScroll(olds);
  reconcile(parent, olds, news, survivors);
  scrolled();
  focus(news.map((node) => survivors.get(node) ?? node), survivors);
  return survivors;
}

function reconcile(parent: Node, olds: readonly Node[], news: readonly Node[], survivors: Map<Node, Node>): void {
  const pairs = match(olds, news);
  const staying = new Set(pairs.values());
  let cursor: Node | null = olds.at(-1)?.nextSibling ?? null;
  const end = cursor;
  olds.filter((old) => !staying.has(old)).forEach((old) => parent.removeChild(old));
  cursor = olds.find((old) => staying.has(old)) ?? end;
  for (const next of news) {
    const old = pairs.get(next);
    if (old === undefined) {
      parent.insertBefore(next, cursor);
      continue;
    }
    cursor = moveTo(parent, old, cursor, end);
    survivors.set(next, old);
    continueAs(old, next, survivors);
  }
}

/** Move `old` to the cursor. Moving a node would blur what is focused inside it, so then the others move. */
function moveTo(parent: Node, old: Node, cursor: Node | null, end: Node | null): Node | null {
  if (old === cursor) {
    return old.nextSibling;
  }
  if (old.contains(document.activeElement) && old.parentNode === parent) {
    while (cursor !== null && cursor !== old && cursor !== end) {
      const following: Node | null = cursor.nextSibling;
      parent.removeChild(cursor);
      cursor = following;
    }
    return old.nextSibling;
  }
  parent.insertBefore(old, cursor);
  return cursor;
}

function continueAs(old: Node, next: Node, survivors: Map<Node, Node>): void {
  if (!(old instanceof Element && next instanceof Element)) {
    if (old.nodeValue !== next.nodeValue) {
      old.nodeValue = next.nodeValue;
    }
    return;
  }
  const written = writtenByBinding(old, next);
  takeAttributes(old, next);
  if (!written) {
    reconcile(old, [...old.childNodes], [...next.childNodes], survivors);
  }
}

/** Whether a binding writes the content of both, so that there is nothing to morph. */
function writtenByBinding(old: Element, next: Element): boolean {
  return (
    old.localName === "textarea" ||
    ["ui-value", "ui-html"].some(
      (name) => old.hasAttribute(name) && old.getAttribute(name) === next.getAttribute(name) && next.childElementCount === 0,
    )
  );
}

function takeAttributes(old: Element, next: Element): void {
  const before = origins.get(old);
  const after = origins.get(next);
  const custom = before !== undefined && after !== undefined;
  // Custom elements reflect their state in attributes. Only those that the author changed may be touched.
  const outdated = custom ? before.getAttributeNames().filter((name) => !next.hasAttribute(name)) : old.getAttributeNames();
  for (const name of outdated) {
    if (!next.hasAttribute(name) && !USER_STATE.has(name) && !(name === "style" && old.localName === "textarea")) {
      old.removeAttribute(name);
    }
  }
  for (const { name, value } of next.attributes) {
    const unchanged = custom && before.getAttribute(name) === value;
    if (!unchanged && name !== "id" && old.getAttribute(name) !== value) {
      old.setAttribute(name, value);
    }
  }
  if (next.id !== "" && (!isVended(next.id) || old.id === "")) {
    old.id = next.id;
  }
  if (after !== undefined) {
    origins.set(old, after);
  }
}

function rememberScroll(olds: readonly Node[]): () => void {
  const kept: [Element, number, number][] = [];
  const note = (element: Element): void => {
    if (element.scrollTop !== 0 || element.scrollLeft !== 0) {
      kept.push([element, element.scrollTop, element.scrollLeft]);
    }
  };
  for (const old of olds) {
    if (old instanceof Element) {
      note(old);
      old.querySelectorAll("*").forEach(note);
    }
  }
  for (let above = olds[0]?.parentElement; above; above = above.parentElement) {
    note(above);
  }
  return () => {
    for (const [element, top, left] of kept) {
      element.scrollTop = top;
      element.scrollLeft = left;
    }
  };
}

interface Typed extends HTMLElement {
  value?: unknown;
  selectionStart?: number | null;
  selectionEnd?: number | null;
  setSelectionRange?(start: number, end: number): void;
}

/** Return a function that restores the focus: if the focused element was replaced, its successor gets text, caret and focus. */
function rememberFocus(olds: readonly Node[]): (now: readonly Node[], survivors: Map<Node, Node>) => void {
  const active = document.activeElement as Typed | null;
  if (active === null || !olds.some((old) => old.contains(active))) {
    return () => undefined;
  }
  const names = ownTokens(active);
  const { value, selectionStart, selectionEnd } = active;
  return (now, survivors) => {
    if (active.isConnected || names.length === 0) {
      return;
    }
    const elements = now.flatMap((node) => (node instanceof Element ? [node, ...node.querySelectorAll("*")] : []));
    const successor = elements.find((element) => names.every((name) => ownTokens(element).includes(name))) as Typed | undefined;
    if (successor === undefined) {
      return;
    }
    inheritValue(active, successor);
    survivors.set(successor, successor);
    if (typeof value === "string" && "value" in successor) {
      successor.value = value;
    }
    successor.focus({ preventScroll: true });
    if (typeof selectionStart === "number" && typeof selectionEnd === "number") {
      successor.setSelectionRange?.(selectionStart, selectionEnd);
    }
  };
}
