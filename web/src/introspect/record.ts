/** Tells what a person does in the page, each time with what it showed before, so that it can be done again. */

import { isEditable, isMasked } from "./accessible_text";
import { composedParent } from "./dom";
import { createRefs, type Refs } from "./refs";
import { secretsOf } from "./secrets";
import { type Captured, capture } from "./snapshot";

/** What the server reads in src/ui_mcp/introspection/recording/recorder.py. */
export interface Noticed {
  type: "click" | "doubleClick" | "setText" | "select" | "setChecked" | "pressKey" | "drag" | "setFiles" | "after";
  /** Uids of the element and those around it, innermost first. */
  chain?: string[];
  to?: string[];
  text?: string;
  value?: string;
  checked?: boolean;
  key?: string;
  modifiers?: string[];
  button?: string;
  paths?: string[];
  /** The text is hidden, and not reported. */
  masked?: true;
  /** Absent if the field of the last event got another value. */
  capture?: Captured;
  /** False in a frame. */
  top?: boolean;
}

export interface PersonRecorder {
  /** Leave out what happens now, because an agent does it. */
  enable(on: boolean): void;
  stop(): void;
}

declare global {
  var uiMcpRecorder: PersonRecorder | undefined;
}

/** After so long without another event, the effect of the last one shows. */
const SETTLED_MS = 400;
const EDITING = new Set(["a", "c", "v", "x", "y", "z"]);
const KEYS = /^(Enter|Escape|Arrow\w+|Page\w+|Home|End|Delete|Backspace|F\d+| )$/;
const IN_FIELDS = /^(Enter|Escape|ArrowUp|ArrowDown|F\d+)$/;

/** Record in a document of an attached browser; `send` takes JSON. */
export function recordInto(send: (event: string) => void, redact: string[]): void {
  const prefix = `p${Math.random().toString(36).slice(2)}x`; // no other document has it
  globalThis.uiMcpRecorder ??= record(createRefs(prefix), redact, (event) => send(JSON.stringify(event)));
}

export function record(refs: Refs, redact: string[], send: (event: Noticed) => void): PersonRecorder {
  let enabled = true;
  let pressed: { shot: Captured; at: Element } | null = null;
  let dragged: { shot: Captured; chain: string[] } | null = null;
  let field: Element | null = null;
  let entered = false;
  let settling: ReturnType<typeof setTimeout> | undefined;

  const shot = (): Captured => capture(refs, { depth: 10_000, sections: ["accessibility", "virtualization"], internals: false, css: null, root: null, redact });
  const chainOf = (element: Element): string[] => {
    const found: string[] = [];
    for (let at: Element | null = element; at; at = composedParent(at)) found.push(refs.uidOf(at));
    return found;
  };

  function tell(event: Noticed, seen: Captured = shot()): void {
    field = null;
    send({ ...event, capture: seen, top: window === window.top });
    clearTimeout(settling);
    settling = setTimeout(() => send({ type: "after", capture: shot() }), SETTLED_MS);
  }

  function clicked(event: MouseEvent, element: Element): void {
    if (entered && event.detail === 0) return; // Enter in a field presses the form's button
    const label = element.closest("label")?.control;
    if (label && label !== element && !element.closest("a,button")) return; // another click follows, on its field
    if (isChoice(element)) return;
    const seen = pressed && pressed.at === element ? pressed.shot : shot();
    const modifiers = modifiersOf(event);
    const more = modifiers.length ? { modifiers } : {};
    if (element.matches("input[type=checkbox]")) {
      tell({ type: "setChecked", chain: chainOf(element), checked: (element as HTMLInputElement).checked }, seen);
    } else {
      const type = event.detail === 2 ? "doubleClick" : "click";
      tell({ type, chain: chainOf(element), ...more, ...(event.type === "contextmenu" ? { button: "right" } : {}) }, seen);
    }
  }

  function typed(element: Element): void {
    if (element.matches("input[type=checkbox],input[type=radio],input[type=file],select")) return;
    const hidden = isMasked(element) || isSecret(element, redact);
    const what = hidden ? { masked: true as const } : { text: textOf(element) };
    if (field === element) {
      send({ type: "setText", ...what });
      return;
    }
    tell({ type: "setText", chain: chainOf(element), ...what });
    field = element;
  }

  function changed(element: Element): void {
    if (element.localName === "select") {
      const options = [...(element as HTMLSelectElement).selectedOptions];
      tell({ type: "select", chain: chainOf(element), value: options.map((option) => option.textContent.trim()).join(", ") });
    } else if (element.matches("input[type=file]")) {
      tell({ type: "setFiles", chain: chainOf(element), paths: [...((element as HTMLInputElement).files ?? [])].map((file) => file.name) });
    }
  }

  function keyed(event: KeyboardEvent, element: Element): void {
    if (element.closest("select")) return; // the choice is reported
    const modifiers = modifiersOf(event);
    const shortcut = (event.ctrlKey || event.metaKey || event.altKey) && event.key.length === 1;
    const writes = isField(element);
    if (shortcut ? writes && EDITING.has(event.key.toLowerCase()) : !(writes ? IN_FIELDS : KEYS).test(event.key)) return;
    const breaks = element.localName === "textarea" || isEditable(element);
    if (event.key === "Enter" && breaks && !shortcut) return;
    if ((event.key === "Enter" || event.key === " ") && element.closest("button,a,summary,input:not([type=text]),[role=button]") && !writes) return; // a click follows
    if (event.key === "Enter") {
      entered = true;
      setTimeout(() => { entered = false; }, 0);
    }
    tell({ type: "pressKey", key: event.key, ...(modifiers.length ? { modifiers } : {}) });
  }

  const acts: Record<string, (event: Event, element: Element) => void> = {
    pointerdown: (_event, element) => { pressed = { shot: shot(), at: element }; },
    click: (event, element) => clicked(event as MouseEvent, element),
    contextmenu: (event, element) => clicked(event as MouseEvent, element),
    input: (_event, element) => typed(element),
    change: (_event, element) => changed(element),
    keydown: (event, element) => keyed(event as KeyboardEvent, element),
    dragstart: (_event, element) => { dragged = { shot: pressed?.shot ?? shot(), chain: chainOf(element) }; },
    drop: (_event, element) => {
      if (dragged) tell({ type: "drag", chain: dragged.chain, to: chainOf(element) }, dragged.shot);
      dragged = null;
    },
  };
  // A script's event is no person's.
  const listen = (event: Event): void => {
    const element = event.composedPath()[0];
    if (enabled && event.isTrusted && element instanceof Element && !element.closest("ui-mcp-point")) acts[event.type]?.(event, element);
  };
  // On the window and while capturing: before the page changes anything, and whatever it stops.
  Object.keys(acts).forEach((type) => addEventListener(type, listen, true));
  return {
    enable(on) { enabled = on; },
    stop() {
      clearTimeout(settling);
      Object.keys(acts).forEach((type) => removeEventListener(type, listen, true));
      globalThis.uiMcpRecorder = undefined;
    },
  };
}

function modifiersOf(event: MouseEvent | KeyboardEvent): string[] {
  const held = { CTRL: event.ctrlKey, SHIFT: event.shiftKey, ALT: event.altKey, META: event.metaKey };
  return Object.entries(held).filter(([, down]) => down).map(([name]) => name);
}

/** Whether the browser's own list opens, which tells its choice by another event. */
function isChoice(element: Element): boolean {
  return element.closest("select") !== null || element.matches("input[type=file],input[type=date],input[type=color],input[type=range]");
}

function isField(element: Element): boolean {
  const typing = "input:not([type=checkbox],[type=radio],[type=button],[type=submit],[type=reset],[type=file],[type=range]),textarea";
  return element.matches(typing) || isEditable(element);
}

function textOf(element: Element): string {
  return isEditable(element) ? element.textContent : (element as HTMLInputElement).value;
}

function isSecret(element: Element, redact: string[]): boolean {
  const secrets = secretsOf(redact);
  return secrets.has(element) || secrets.below(element);
}
