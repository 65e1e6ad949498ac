/** Maps neutral key names to those of the DOM, and emulates key presses. */

import { deepFocus } from "./dom";

const NAMES: Record<string, string> = {
  ENTER: "Enter", TAB: "Tab", ESCAPE: "Escape", SPACE: " ", BACK_SPACE: "Backspace", DELETE: "Delete", INSERT: "Insert",
  HOME: "Home", END: "End", PAGE_UP: "PageUp", PAGE_DOWN: "PageDown", UP: "ArrowUp", DOWN: "ArrowDown", LEFT: "ArrowLeft",
  RIGHT: "ArrowRight", CONTROL: "Control", SHIFT: "Shift", ALT: "Alt", META: "Meta", CONTEXT_MENU: "ContextMenu",
  COMMA: ",", PERIOD: ".", SLASH: "/", SEMICOLON: ";", EQUALS: "=", MINUS: "-", QUOTE: "'", BACK_QUOTE: "`",
  BACK_SLASH: "\\", OPEN_BRACKET: "[", CLOSE_BRACKET: "]",
};

/** Dispatch the events of a key, and emulate its default action: Enter submits, Tab moves the focus. */
export function pressBySynthesis(name: string, modifiers: string[]): void {
  const key = NAMES[name] ?? (name.length === 1 && !modifiers.includes("SHIFT") ? name.toLowerCase() : name);
  const init = {
    key, bubbles: true, cancelable: true, composed: true, shiftKey: modifiers.includes("SHIFT"), altKey: modifiers.includes("ALT"),
    ctrlKey: modifiers.includes("CONTROL") || modifiers.includes("SHORTCUT"), metaKey: modifiers.includes("META"),
  };
  const owner = deepFocus() ?? document.body;
  const goes = owner.dispatchEvent(new KeyboardEvent("keydown", init));
  if (goes && !init.ctrlKey && !init.altKey && !init.metaKey) defaultOf(key, owner as HTMLElement, init.shiftKey);
  owner.dispatchEvent(new KeyboardEvent("keyup", init));
}

function defaultOf(key: string, owner: HTMLElement, backwards: boolean): void {
  if (key === "Enter" && owner instanceof HTMLInputElement) owner.form?.requestSubmit();
  else if ((key === "Enter" || key === " ") && owner.matches("button,a[href],summary")) owner.click();
  else if (key === "Tab") moveFocus(owner, backwards ? -1 : 1);
}

function moveFocus(owner: HTMLElement, step: number): void {
  const stops = [...document.querySelectorAll<HTMLElement>("a[href],button,input,select,textarea,[tabindex]")]
    .filter((element) => element.tabIndex >= 0 && element.checkVisibility() && !element.matches(":disabled"));
  stops[(stops.indexOf(owner) + step + stops.length) % stops.length]?.focus();
}
