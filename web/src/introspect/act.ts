/** Actions through the DOM, in our own pages and in driven ones. */

import { composedParent, deepFocus } from "./dom";
import { resolveTarget, clickPoint, ActionError, requireOperable } from "./actionability";
import type { NodeRef, Refs } from "./refs";
import { rowsOf } from "./refs";
import { innerField, isEditable } from "./accessible_text";

export interface Action {
  type: string;
  target?: NodeRef;
  text?: string;
  deltaX?: number;
  deltaY?: number;
  toIndex?: number;
  index?: number;
  value?: string;
  checked?: boolean;
  force?: boolean;
}

type Field = HTMLInputElement | HTMLTextAreaElement;

export function focus(refs: Refs, action: Action): void {
  const element = resolveTarget(refs, action.target);
  requireOperable(refs, element);
  const field = innerField(element) ?? element;
  field.focus();
  const owner = deepFocus();
  if (owner !== field && !(owner && element.contains(owner))) throw new ActionError("NOT_FOCUSABLE", "The node takes no focus");
}

export function setText(refs: Refs, action: Action): void {
  const element = resolveTarget(refs, action.target);
  const field = fieldOf(element);
  requireOperable(refs, element);
  if (!isField(field)) {
    replaceEditable(field, action.text ?? "");
    return;
  }
  if (field.readOnly) throw new ActionError("READ_ONLY", "The field is read-only");
  field.focus();
  write(field, action.text ?? "");
}

/** Insert text at the caret. */
export function insertText(text: string): void {
  const owner = deepFocus();
  if (!owner || !(isField(owner) || isEditable(owner))) throw new ActionError("UNSUPPORTED_TARGET_TYPE", "No text field has the focus");
  if (!isField(owner)) {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way to insert text that triggers an editor's own events and undo
    owner.ownerDocument.execCommand("insertText", false, text);
    return;
  }
  if (owner.readOnly) throw new ActionError("READ_ONLY", "The field is read-only");
  const [from, to] = [owner.selectionStart ?? owner.value.length, owner.selectionEnd ?? owner.value.length];
  write(owner, owner.value.slice(0, from) + text + owner.value.slice(to), from + text.length);
}

export function scroll(refs: Refs, action: Action): void {
  const element = action.target ? resolveTarget(refs, action.target) : document.body;
  if (action.toIndex !== undefined) {
    const row = rowsOf(element).find(({ index }) => index === action.toIndex)?.row ?? element.children[action.toIndex];
    if (!row) throw new ActionError("OUT_OF_RANGE", `There is no row ${action.toIndex}`);
    row.scrollIntoView({ block: "nearest", behavior: "instant" });
    return;
  }
  const [left, top] = [-(action.deltaX ?? 0), -(action.deltaY ?? 0)];
  scrollable(element, left, top).scrollBy({ left, top, behavior: "instant" });
}

export function select(refs: Refs, action: Action): void {
  const element = resolveTarget(refs, action.target);
  requireOperable(refs, element);
  const field = innerField(element) ?? element;
  if (field.localName !== "select") throw new ActionError("UNSUPPORTED_TARGET_TYPE", "Click the option instead");
  const list = field as HTMLSelectElement;
  const options = [...list.options];
  const at = action.index ?? options.findIndex((one) => one.value === action.value || one.text.trim() === action.value);
  if (!options[at]) throw new ActionError("OUT_OF_RANGE", `There is no option ${action.value ?? action.index}`);
  list.selectedIndex = at;
  announce(list, "input", "change");
}

/** Return what has to be clicked to reach the requested state; null if it is reached already. */
export function toggle(refs: Refs, action: Action): HTMLElement | null {
  const element = resolveTarget(refs, action.target);
  requireOperable(refs, element);
  if (action.type === "setChecked") {
    const field = innerField(element) ?? element;
    const now = field.localName === "input" ? (field as HTMLInputElement).checked : field.getAttribute("aria-checked") === "true";
    return now === action.checked ? null : element;
  }
  const open = action.type === "expand";
  if (element.localName === "details") return element.hasAttribute("open") === open ? null : element.querySelector("summary");
  const said = element.getAttribute("aria-expanded");
  if (said === null) throw new ActionError("UNSUPPORTED_TARGET_TYPE", "The node cannot be expanded");
  return (said === "true") === open ? null : element;
}

/** Click with synthetic events: those a mouse would cause, then the element's own activation. */
export function clickBySynthesis(refs: Refs, element: HTMLElement, count: number, force: boolean): void {
  const spot = clickPoint(refs, element, force);
  const init = { bubbles: true, cancelable: true, composed: true, clientX: spot.x, clientY: spot.y, button: 0, detail: count };
  for (let nth = 1; nth <= count; nth++) {
    element.dispatchEvent(new PointerEvent("pointerdown", { ...init, buttons: 1 }));
    element.dispatchEvent(new MouseEvent("mousedown", { ...init, buttons: 1, detail: nth }));
    (innerField(element) ?? element).focus();
    element.dispatchEvent(new PointerEvent("pointerup", init));
    element.dispatchEvent(new MouseEvent("mouseup", { ...init, detail: nth }));
    element.click();
  }
  if (count === 2) element.dispatchEvent(new MouseEvent("dblclick", init));
}

function fieldOf(element: HTMLElement): Field | HTMLElement {
  const field = innerField(element) ?? element;
  if (isField(field) || isEditable(field)) return field;
  throw new ActionError("UNSUPPORTED_TARGET_TYPE", "The node holds no text");
}

/** By tag name, because instanceof fails for elements of other frames. */
function isField(element: Element): element is Field {
  if (element.localName === "textarea") return true;
  const untyped = ["checkbox", "radio", "button", "submit", "reset", "file", "image"];
  return element.localName === "input" && !untyped.includes((element as HTMLInputElement).type);
}

function write(field: Field, text: string, caret = text.length): void {
  // Call the prototype's setter: frameworks override the one on the instance and would miss the change.
  const owner = field.localName === "textarea" ? HTMLTextAreaElement.prototype : HTMLInputElement.prototype;
  Object.getOwnPropertyDescriptor(owner, "value")?.set?.call(field, text);
  if (field.selectionStart !== null) field.setSelectionRange(caret, caret);
  field.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true, inputType: "insertText", data: text }));
  announce(field, "change");
}

function replaceEditable(element: HTMLElement, text: string): void {
  element.focus();
  element.textContent = text;
  element.ownerDocument.getSelection()?.selectAllChildren(element);
  element.ownerDocument.getSelection()?.collapseToEnd();
  element.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true, inputType: "insertText", data: text }));
}

function announce(element: Element, ...types: string[]): void {
  for (const type of types) element.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
}

function scrollable(element: Element, left: number, top: number): Element {
  for (let at: Element | null = element; at; at = composedParent(at)) {
    const style = getComputedStyle(at);
    const scrolls = /auto|scroll/.test(style.overflowY + style.overflowX);
    if (scrolls && ((top && at.scrollHeight > at.clientHeight) || (left && at.scrollWidth > at.clientWidth))) return at;
  }
  return document.scrollingElement ?? document.documentElement;
}
