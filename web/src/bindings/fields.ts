/** How each kind of element holds its value: the property, and the events that report changes. */
import type { Json } from "../protocol";
import { bindsOf } from "../elements/contracts";
import { textOf } from "./binding";

export interface Field {
  read(element: Element): Json;
  write(element: Element, value: Json): void;
  /** Events after which the value is final. */
  readonly commits: readonly string[];
  /** Events while the user is still typing. */
  readonly types: readonly string[];
  /** A toggle or choice; an explicit binding of its change event replaces ours. */
  readonly choice: boolean;
}

interface Valued extends Element {
  value: unknown;
}

interface Early extends Element {
  early?: unknown[];
}

interface Checked extends Element {
  checked?: boolean;
  value: string;
}

const READ_ONLY = new Set(["sl-copy-button", "sl-option", "sl-progress-bar", "sl-progress-ring", "sl-qr-code"]);
const SHOWS_TEXT = new Set(["button", "sl-badge", "li", "data", "option", "output", "param"]);
const SL_CHECKED = new Set(["sl-checkbox", "sl-switch"]);
const SL_CHOICE = new Set(["sl-radio-group", "sl-range", "sl-rating", "sl-color-picker"]);
const NATIVE_CHOICE = new Set(["range", "color", "date", "time", "datetime-local", "month", "week"]);

const property = (commits: readonly string[], types: readonly string[], choice = false): Field => ({
  read: (element) => ((element as Valued).value ?? null) as Json,
  write: (element, value) => {
    (element as Valued).value = value ?? "";
  },
  commits,
  types,
  choice,
});

const NATIVE_TEXT = property(["blur", "change"], ["input"]);
/** The values that selects are to show, whose options may come later or change. */
const wanted = new WeakMap<HTMLSelectElement, string>();

/** Choose the wanted option again when options change; a choice of the person replaces what was wanted. */
function keepChoice(select: HTMLSelectElement): void {
  const choose = (): void => {
    const value = wanted.get(select) ?? "";
    if (select.value !== value && [...select.options].some((option) => option.value === value)) {
      select.value = value;
    }
  };
  new MutationObserver(choose).observe(select, { subtree: true, childList: true, characterData: true, attributeFilter: ["value"] });
  select.addEventListener("change", () => wanted.set(select, select.value));
}

const NATIVE_SELECT: Field = {
  ...property(["blur", "change"], ["input"]),
  write(element, value) {
    const select = element as HTMLSelectElement;
    if (!wanted.has(select)) {
      keepChoice(select);
    }
    wanted.set(select, value === null ? "" : textOf(value));
    select.value = wanted.get(select) ?? "";
  },
};

const NATIVE_CHANGE = property(["change"], ["input"], true);
const SL_TEXT = property(["sl-change"], ["sl-input"]);
const SL_CHANGE = property(["sl-change"], ["sl-input"], true);
const CUSTOM = property(["change"], ["input"]);
const SILENT = property([], []);

/**
 * Our own elements; they may be loaded only after values were written, so nothing is read from them before. All values
 * are kept for them, because one may only add to the one before it.
 */
const ELEMENT: Field = {
  ...property(["change"], ["input"]),
  write(element, value) {
    if (customElements.get(element.localName) === undefined) {
      ((element as Early).early ??= []).push(value);
    }
    (element as Valued).value = value;
  },
};

const SL_NUMBER: Field = { ...SL_CHANGE, write: (element, value) => void ((element as Valued).value = Number(value ?? 0)) };

const SL_SELECT: Field = {
  ...SL_TEXT,
  write(element, value) {
    (element as Valued).value = Array.isArray(value) ? value.map(String) : value === null ? "" : textOf(value);
  },
};

const checkbox = (event: string): Field => ({
  read: (element) => (element as Checked).checked ?? false,
  write: (element, value) => void ((element as Checked).checked = Boolean(value)),
  commits: [event],
  types: [],
  choice: true,
});

const RADIO: Field = {
  read: (element) => ((element as Checked).checked ? (element as Checked).value : null),
  write: (element, value) => void ((element as Checked).checked = value !== null && textOf(value) === (element as Checked).value),
  commits: ["change"],
  types: [],
  choice: true,
};

const CHECKBOX = checkbox("change");
const SL_CHECKBOX = checkbox("sl-change");

/** The text of an element that is not a field. */
export const TEXT: Field = {
  read: (element) => element.textContent,
  write(element, value) {
    const text = value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
    const only = element.firstChild;
    if (only instanceof Text && only === element.lastChild && text !== "") {
      only.data = text; // cheaper for the browser than another node, and selected text stays selected
    } else {
      element.textContent = text;
    }
  },
  commits: [],
  types: [],
  choice: false,
};

export function fieldOf(element: Element): Field {
  const tag = element.localName;
  if (SHOWS_TEXT.has(tag)) {
    return TEXT;
  }
  if (tag.startsWith("sl-")) {
    return shoelaceField(tag);
  }
  if (tag.startsWith("ui-")) {
    return ELEMENT;
  }
  if (tag === "input") {
    return inputField((element as HTMLInputElement).type);
  }
  if (tag === "select" && !(element as HTMLSelectElement).multiple) {
    return NATIVE_SELECT;
  }
  if (tag === "textarea" || tag === "select") {
    return NATIVE_TEXT;
  }
  if (tag.includes("-")) {
    return "value" in element ? CUSTOM : TEXT;
  }
  return "value" in element ? SILENT : TEXT;
}

function shoelaceField(tag: string): Field {
  if (READ_ONLY.has(tag)) {
    return SILENT;
  }
  if (SL_CHECKED.has(tag)) {
    return SL_CHECKBOX;
  }
  if (tag === "sl-range" || tag === "sl-rating") {
    return SL_NUMBER;
  }
  if (SL_CHOICE.has(tag)) {
    return SL_CHANGE;
  }
  return tag === "sl-select" ? SL_SELECT : SL_TEXT;
}

function inputField(type: string): Field {
  if (type === "checkbox") {
    return CHECKBOX;
  }
  if (type === "radio") {
    return RADIO;
  }
  return NATIVE_CHOICE.has(type) ? NATIVE_CHANGE : NATIVE_TEXT;
}

/** Return whether `ui-value` on this element is two-way by default. */
export function isEditable(element: Element): boolean {
  const tag = element.localName;
  if (tag === "input" || tag === "textarea" || tag === "select") {
    return true;
  }
  if (tag.startsWith("sl-")) {
    return !READ_ONLY.has(tag) && !SHOWS_TEXT.has(tag);
  }
  if (tag.startsWith("ui-")) {
    return bindsOf(tag) === "value";
  }
  return tag.includes("-") && "value" in element;
}
