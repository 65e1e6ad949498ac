/** Decides whether a user could operate an element now, and at which point; fails at once with the reason. */

import { composedContains, composedParent, frameOffset, frameRoot, rootOf } from "./dom";
import type { NodeRef, Refs } from "./refs";
import { isDisabled } from "./snapshot";

export class ActionError extends Error {
  constructor(readonly reason: string, message: string, readonly details: Record<string, unknown> = {}) {
    super(message);
  }
}

export interface ClickPoint {
  element: HTMLElement;
  /** The innermost element there, which gets the events of a mouse. */
  hit: HTMLElement;
  x: number;
  y: number;
}

/** Resolve a target, or throw an ActionError without a reason. */
export function resolveTarget(refs: Refs, target: NodeRef | undefined): HTMLElement {
  const element = target ? refs.resolve(target) : null;
  if (!element) throw new ActionError("", "no such node");
  return element as HTMLElement;
}

const ANIMATION_MS = 500;

/** Return a point on the element that a click would reach; wait while an animation moves the element or what covers it. */
export async function settledPoint(refs: Refs, element: HTMLElement, force: boolean): Promise<ClickPoint> {
  const end = performance.now() + ANIMATION_MS;
  for (;;) {
    try {
      const point = clickPoint(refs, element, force);
      if (!isMoving(element) || performance.now() >= end) return point;
    } catch (error) {
      if (performance.now() >= end || !(error instanceof ActionError) || !passes(refs, element, error)) throw error;
    }
    await new Promise<void>((done) => {
      requestAnimationFrame(() => done());
      setTimeout(done, 50);
    });
  }
}

/** Whether a refusal is about to end by itself, with an animation. */
function passes(refs: Refs, element: HTMLElement, error: ActionError): boolean {
  if (error.reason !== "COVERED") return ["NOT_VISIBLE", "ZERO_SIZE", "OFFSCREEN"].includes(error.reason) && isMoving(element);
  const covering = refs.resolve({ uid: (error.details["by"] as { uid: string }).uid });
  return isMoving(element) || (covering !== null && isMoving(covering));
}

/** Whether an animation or transition that ends runs on the element or on what it lies in. */
function isMoving(element: Element): boolean {
  for (let at: Element | null = element; at; at = composedParent(at)) {
    const ends = (animation: Animation) => animation.playState === "running" && Number(animation.effect?.getComputedTiming().endTime) < Infinity;
    if (at.getAnimations().some(ends)) return true;
  }
  return false;
}

/** Scroll the element into view and return a point on it that a click would reach. */
export function clickPoint(refs: Refs, element: HTMLElement, force: boolean): ClickPoint {
  requireOperable(refs, element);
  const box = firstBox(element);
  if (!inViewport(element, box)) element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const now = firstBox(element);
  const [x, y] = [now.x + now.width / 2, now.y + now.height / 2];
  const offset = frameOffset(element.ownerDocument);
  const spot = { element, hit: element, x: x + offset.x, y: y + offset.y };
  if (force) return spot;
  if (!inViewport(element, now)) throw new ActionError("OFFSCREEN", "The node cannot be scrolled into view");
  const hit = deepestAt(element.ownerDocument, x, y);
  if (!hit || belongs(element, hit)) return { ...spot, hit: (hit ?? element) as HTMLElement };
  throw new ActionError("COVERED", "Something lies over the node", { by: { uid: refs.uidOf(hit), type: hit.localName } });
}

/** Throw if the element is disabled, invisible or behind a modal dialog. */
export function requireOperable(refs: Refs, element: HTMLElement): void {
  for (let at: Element | null = element; at; at = composedParent(at)) {
    if (isDisabled(at) || (at === element && at.matches(":disabled"))) throw new ActionError("DISABLED", "The node is disabled");
  }
  if (!element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true })) {
    throw new ActionError("NOT_VISIBLE", "The node is not visible");
  }
  const box = firstBox(element);
  if (box.width === 0 || box.height === 0) throw new ActionError("ZERO_SIZE", "The node has no size");
  const modal = modalOver(element);
  if (modal) throw new ActionError("BEHIND_MODAL", "A modal dialog is open", { stage: refs.uidOf(modal) });
}

/** Report whether a user could point at the element without scrolling or closing something first. */
export function actionability(refs: Refs, element: Element): Record<string, unknown> {
  const box = firstBox(element);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const view = element.ownerDocument.defaultView ?? window;
  const inside = box.width > 0 && box.height > 0 && x >= 0 && y >= 0 && x < view.innerWidth && y < view.innerHeight;
  const seen = inside && element.checkVisibility({ visibilityProperty: true }) && !clipped(element, x, y);
  const hit = seen ? deepestAt(element.ownerDocument, x, y) : null;
  const modal = modalOver(element);
  return {
    inViewport: seen,
    ...(hit && !belongs(element, hit) && !composedContains(hit, element) ? { coveredBy: refs.uidOf(hit) } : {}),
    ...(modal ? { behindModal: refs.uidOf(modal) } : {}),
  };
}

/** The modal dialog that blocks the element, if there is one. */
function modalOver(element: Element): Element | undefined {
  const modal = [...element.ownerDocument.querySelectorAll("dialog:modal")].at(-1);
  return modal && !composedContains(modal, element) ? modal : undefined;
}

function firstBox(element: Element): DOMRect {
  return [...element.getClientRects()].find((box) => box.width && box.height) ?? element.getBoundingClientRect();
}

function inViewport(element: Element, box: DOMRect): boolean {
  const view = element.ownerDocument.defaultView ?? window;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  if (x < 0 || y < 0 || x >= view.innerWidth || y >= view.innerHeight) return false;
  const hit = deepestAt(element.ownerDocument, x, y);
  return hit === null || belongs(element, hit) || !clipped(element, x, y);
}

/** Whether an ancestor clips the point. */
function clipped(element: Element, x: number, y: number): boolean {
  for (let at = element.parentElement; at; at = at.parentElement) {
    if (getComputedStyle(at).overflow === "visible") continue;
    const box = at.getBoundingClientRect();
    if (x < box.left || x > box.right || y < box.top || y > box.bottom) return true;
  }
  return false;
}

/** The topmost element at a point of the viewport, inside frames too, with its ancestors. */
export function chainAt(x: number, y: number): Element[] {
  let hit = deepestAt(document, x, y);
  for (let frame = hit && frameIn(hit); frame; frame = frameIn(hit)) {
    const offset = frameOffset(frame);
    const inner = deepestAt(frame, x - offset.x, y - offset.y);
    if (!inner) break;
    hit = inner;
  }
  const chain: Element[] = [];
  const top = rootOf(document);
  for (let at = hit; at; at = at === top ? null : composedParent(at)) if (at !== document.documentElement) chain.push(at);
  return chain;
}

function frameIn(element: Element): Document | null {
  return element.localName === "iframe" ? frameRoot(element as HTMLIFrameElement)?.ownerDocument ?? null : null;
}

export function deepestAt(page: Document, x: number, y: number): Element | null {
  let hit = page.elementFromPoint(x, y);
  while (hit?.shadowRoot) {
    const inner = hit.shadowRoot.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
}

function belongs(element: Element, hit: Element): boolean {
  if (composedContains(element, hit)) return true;
  const label = hit.closest("label");
  return label?.control === element;
}
