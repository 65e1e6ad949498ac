/** Actions through the DOM, in our own pages and in driven ones. */

import { composedParent, deepFocus, frameOffset } from "./dom";
import { resolveTarget, settledPoint, ActionError, requireOperable } from "./actionability";
import type { NodeRef, Refs } from "./refs";
import { rowsOf } from "./refs";
import { renderRow } from "./rows";
import { pressBySynthesis } from "./keys";
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

/** Insert text at the caret; in a field of one line, a line break is a press of Enter. */
export function insertText(text: string): void {
  const lines = deepFocus()?.localName === "input" ? text.split(/\r?\n/) : [text];
  lines.forEach((line, at) => {
    if (at > 0) pressBySynthesis("ENTER", []);
    if (line !== "" || lines.length === 1) insertLine(line);
  });
}

function insertLine(text: string): void {
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

export async function scroll(refs: Refs, action: Action): Promise<void> {
  const element = action.target ? resolveTarget(refs, action.target) : document.body;
  if (action.toIndex !== undefined) {
    const row = await renderRow(element, action.toIndex) ?? (rowsOf(element).length ? null : element.children[action.toIndex]);
    if (!row) throw new ActionError("OUT_OF_RANGE", `There is no row ${action.toIndex}`);
    row.scrollIntoView({ block: "nearest", behavior: "instant" });
    return;
  }
  const [left, top] = [-(action.deltaX ?? 0), -(action.deltaY ?? 0)];
  scrollable(element, left, top).scrollBy({ left, top, behavior: "instant" });
}

/** Select an option; returns what has to be clicked for that, or null if it is done. */
export function select(refs: Refs, action: Action): HTMLElement | null {
  const element = resolveTarget(refs, action.target);
  requireOperable(refs, element);
  const field = innerField(element) ?? element;
  if (field.localName !== "select") return choiceIn(element, action);
  const list = field as HTMLSelectElement;
  const options = [...list.options];
  const at = action.index ?? options.findIndex((one) => one.value === action.value || one.text.trim() === action.value);
  if (!options[at]) throw new ActionError("OUT_OF_RANGE", `There is no option ${action.value ?? action.index}`);
  // In a list of several choices, the others stay chosen.
  if (list.multiple) options[at].selected = true;
  else list.selectedIndex = at;
  announce(list, "input", "change");
  return null;
}

/** The row, option or tab that a person would click. */
function choiceIn(element: HTMLElement, action: Action): HTMLElement {
  const choices = "[role=option],[role=treeitem],[role=row],[role=tab],[role=radio],[role=menuitemradio],tr";
  if (element.matches(choices) && action.value === undefined && action.index === undefined) return element;
  const rows = rowsOf(element);
  const all = rows.length ? rows : [...element.querySelectorAll(choices)].map((row, index) => ({ index, row }));
  if (!all.length) throw new ActionError("UNSUPPORTED_TARGET_TYPE", "Nothing can be selected in this node; click the option instead");
  const found = all.find(({ index, row }) => action.value === undefined ? index === action.index : row.textContent.trim() === action.value);
  if (!found) throw new ActionError("OUT_OF_RANGE", `There is no option ${action.value ?? action.index}`);
  return found.row as HTMLElement;
}

/** Return what has to be clicked to reach the requested state; null if it is reached already. */
export function toggle(refs: Refs, action: Action): HTMLElement | null {
  const element = resolveTarget(refs, action.target);
  requireOperable(refs, element);
  if (action.type === "setChecked") {
    const box = element.matches("tr,td,[role=row],[role=option],[role=treeitem],[role=gridcell]") && !element.hasAttribute("aria-checked")
      ? element.querySelector<HTMLElement>("input[type=checkbox],[role=checkbox]") : null;
    if (box) return isChecked(box) === action.checked ? null : box;
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

function isChecked(box: HTMLElement): boolean {
  return box.localName === "input" ? (box as HTMLInputElement).checked : box.getAttribute("aria-checked") === "true";
}

/** Click with synthetic events: those a mouse would cause, then the element's own activation. */
export async function clickBySynthesis(refs: Refs, element: HTMLElement, count: number, force: boolean): Promise<void> {
  const spot = await settledPoint(refs, element, force);
  const { hit } = spot;
  const init = { bubbles: true, cancelable: true, composed: true, ...clientPoint(hit, spot), button: 0, detail: count };
  for (let nth = 1; nth <= count; nth++) {
    hit.dispatchEvent(new PointerEvent("pointerdown", { ...init, buttons: 1 }));
    hit.dispatchEvent(new MouseEvent("mousedown", { ...init, buttons: 1, detail: nth }));
    (innerField(element) ?? element).focus();
    hit.dispatchEvent(new PointerEvent("pointerup", init));
    hit.dispatchEvent(new MouseEvent("mouseup", { ...init, detail: nth }));
    // Not click(), whose event is at 0,0.
    hit.dispatchEvent(new PointerEvent("click", { ...init, detail: nth }));
  }
  if (count === 2) hit.dispatchEvent(new MouseEvent("dblclick", init));
}

/** A point of the top-level viewport in the coordinates of the element's own frame. */
export function clientPoint(element: Element, spot: { x: number; y: number }): { clientX: number; clientY: number } {
  const offset = frameOffset(element.ownerDocument);
  return { clientX: spot.x - offset.x, clientY: spot.y - offset.y };
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
