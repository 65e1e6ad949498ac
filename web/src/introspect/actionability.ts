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

const ANIMATION_MS = 800;
/** Longer than a frame of a busy machine: within one frame nothing moves, which must not be taken for rest. */
const FRAME_MS = 250;
/** After so many frames without a change, what covers a node stays there. */
const STILL_FRAMES = 3;
/** After so many frames in one place, a node rests. */
const RESTING_FRAMES = 2;
/** Less than an animation moves a node in its slow first frames. */
const RESTING_PIXELS = 0.1;

/**
 * Return a point on the element that a click would reach; wait while an animation moves the element or what covers it.
 * Scripts animate too, which only shows in that a place differs from one frame to the next. With `hovered`, what the
 * pointer changed on its arrival is waited for, such as a picture that is still being loaded. `passive` only points at it.
 */
export async function settledPoint(refs: Refs, element: HTMLElement, force: boolean, hovered = true, passive = false): Promise<ClickPoint> {
  const end = performance.now() + ANIMATION_MS;
  let before: ClickPoint | null = null;
  let [cover, frames] = ["", 0];
  for (;;) {
    try {
      const point = clickPoint(refs, element, force, passive);
      frames = before !== null && Math.abs(before.x - point.x) < RESTING_PIXELS && Math.abs(before.y - point.y) < RESTING_PIXELS ? frames + 1 : 0;
      before = point;
      if (((!hovered || frames >= RESTING_FRAMES) && !isMoving(element)) || performance.now() >= end) return point;
    } catch (error) {
      if (performance.now() >= end || !(error instanceof ActionError)) throw error;
      const now = coverOf(refs, element, error);
      frames = now === cover ? frames + 1 : 0;
      cover = now;
      if ((now === "" || frames >= STILL_FRAMES) && !passes(refs, element, error, hovered)) throw error;
    }
    await new Promise<void>((done) => {
      requestAnimationFrame(() => setTimeout(done, 0));
      setTimeout(done, FRAME_MS);
    });
  }
}

/** What lies over the node, and how both look, which changes from frame to frame while a script fades or moves one. */
function coverOf(refs: Refs, element: HTMLElement, error: ActionError): string {
  const covering = error.reason === "COVERED" ? refs.resolve({ uid: (error.details["by"] as { uid: string }).uid }) : null;
  if (!covering) return "";
  const places = [element, covering].flatMap((at) => {
    const { x, y, width, height } = at.getBoundingClientRect();
    return [x, y, width, height];
  });
  const opacities: string[] = [];
  for (let at: Element | null = covering; at; at = composedParent(at)) opacities.push(getComputedStyle(at).opacity);
  return [refs.uidOf(covering), ...places, ...opacities].join();
}

/** Whether a refusal is about to end by itself, with an animation. */
function passes(refs: Refs, element: HTMLElement, error: ActionError, hovered: boolean): boolean {
  if (error.reason !== "COVERED") return ["NOT_VISIBLE", "ZERO_SIZE", "OFFSCREEN"].includes(error.reason) && (hovered || isMoving(element));
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
export function clickPoint(refs: Refs, element: HTMLElement, force: boolean, passive = false): ClickPoint {
  if (passive) requireVisible(refs, element);
  else requireOperable(refs, element);
  const box = firstBox(element);
  if (!inViewport(element, box)) element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const now = firstBox(element);
  const offset = frameOffset(element.ownerDocument);
  const at = (x: number, y: number, hit: Element) => ({ element, hit: hit as HTMLElement, x: x + offset.x, y: y + offset.y });
  const [x, y] = [now.x + now.width / 2, now.y + now.height / 2];
  if (force) return at(x, y, element);
  if (!inViewport(element, now)) throw new ActionError("OFFSCREEN", "The node cannot be scrolled into view");
  const hit = deepestAt(element.ownerDocument, x, y);
  if (!hit || belongs(element, hit)) return at(x, y, hit ?? element);
  const free = freePoint(element, now);
  if (free) return at(free.x, free.y, free.hit);
  throw new ActionError("COVERED", "Something lies over the node", { by: { uid: refs.uidOf(hit), type: hit.localName } });
}

const ASIDE = [[0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.1, 0.2], [0.9, 0.2], [0.1, 0.8], [0.9, 0.8]] as const;

/** A point of a node that shows although its middle is covered, where a person would click. */
function freePoint(element: Element, box: DOMRect): { x: number; y: number; hit: Element } | null {
  for (const [across, down] of ASIDE) {
    const [x, y] = [box.x + box.width * across, box.y + box.height * down];
    const hit = deepestAt(element.ownerDocument, x, y);
    if (hit && composedContains(element, hit)) return { x, y, hit };
  }
  return null;
}

/** Throw if the element is disabled, invisible or behind a modal dialog. */
export function requireOperable(refs: Refs, element: HTMLElement): void {
  for (let at: Element | null = element; at; at = composedParent(at)) {
    if (isDisabled(at) || (at === element && at.matches(":disabled"))) throw new ActionError("DISABLED", "The node is disabled");
  }
  requireVisible(refs, element);
}

function requireVisible(refs: Refs, element: HTMLElement): void {
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
