/** One field of a form in the inbox: text, number, yes or no, choices with room for an own answer, or a file. */
import { make } from "../nlui/dom";
import { plain } from "./request";

export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly kind: "text" | "number" | "integer" | "yes_no" | "choice" | "choices" | "file";
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly required: boolean;
  /** Whether the person may write an answer that is not among the options. */
  readonly other: boolean;
  readonly help: string;
  /** What the form shows at first. */
  readonly default?: unknown;
}

export interface ShownField {
  readonly name: string;
  readonly element: HTMLElement;
  /** The answer as the server takes it; null without one. */
  value(): unknown;
}

/** A request is limited to 4 MiB, and base64 adds a third. */
export const MAX_FILE = 2_900_000;

export function formField(field: FormField, id: string): ShownField {
  switch (field.kind) {
    case "choice":
    case "choices":
      return choices(field, id);
    case "yes_no":
      return yesNo(field, id);
    case "file":
      return file(field, id);
    case "number":
    case "integer": {
      const input = make("input.ask-input", { id, type: "number", step: field.kind === "integer" ? "1" : "any" });
      input.value = typeof field.default === "number" ? String(field.default) : "";
      return shown(field, labelled(field, id, input), () => (input.value === "" ? null : input.valueAsNumber));
    }
    case "text": {
      const input = make("textarea.ask-input", { id, rows: "2" });
      input.value = typeof field.default === "string" ? field.default : "";
      return shown(field, labelled(field, id, input), () => input.value.trim() || null);
    }
  }
}

function shown(field: FormField, element: HTMLElement, value: () => unknown): ShownField {
  return { name: field.name, element, value };
}

function labelled(field: FormField, id: string, input: HTMLElement): HTMLElement {
  if (field.required) {
    input.setAttribute("aria-required", "true");
  }
  return make("div.ask-entry", {}, make("label", { for: id }, named(field)), help(field), input);
}

function named(field: FormField): string {
  return `${plain(field.label)}${field.required ? "" : " (optional)"}`;
}

function help(field: FormField): HTMLElement | null {
  return field.help ? make("p.ask-dim", {}, plain(field.help)) : null;
}

function yesNo(field: FormField, id: string): ShownField {
  const box = (value: string): HTMLInputElement => make("input", { type: "radio", name: id, value });
  const [yes, no] = [box("yes"), box("no")];
  yes.checked = field.default === true;
  no.checked = field.default === false;
  const element = group(field, make("label.ask-option", {}, yes, "Yes"), make("label.ask-option", {}, no, "No"));
  return shown(field, element, () => (yes.checked ? true : no.checked ? false : null));
}

function choices(field: FormField, id: string): ShownField {
  const type = field.kind === "choice" ? "radio" : "checkbox";
  const boxes = field.options.map((option) => make("input", { type, name: id, value: option.value }));
  const preset = Array.isArray(field.default) ? field.default : [field.default];
  boxes.forEach((box) => (box.checked = preset.includes(box.value)));
  const options = field.options.map((option, at) => make("label.ask-option", {}, boxes[at] ?? null, plain(option.label)));
  const own = make("input.ask-input", { type: "text", "aria-label": `Another answer to: ${plain(field.label)}`, placeholder: "Your own answer" });
  const other = make("input", { type, name: id, "aria-label": "Another answer" });
  own.addEventListener("input", () => (other.checked = own.value !== ""));
  const element = group(field, ...options, ...(field.other ? [make("div.ask-option", {}, other, own)] : []));
  return shown(field, element, () => {
    const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
    const all = other.checked && own.value.trim() ? [...chosen, own.value.trim()] : chosen;
    return field.kind === "choice" ? (all[0] ?? null) : all;
  });
}

function group(field: FormField, ...parts: readonly HTMLElement[]): HTMLElement {
  return make("fieldset.ask-entry", {}, make("legend", {}, named(field)), help(field), ...parts);
}

function file(field: FormField, id: string): ShownField {
  const input = make("input.ask-input", { id, type: "file" });
  return shown(field, labelled(field, id, input), async () => {
    const given = input.files?.[0];
    if (!given) {
      return null;
    }
    if (given.size > MAX_FILE) {
      throw new Error(`${given.name} is too large: at most ${(MAX_FILE / 1e6).toFixed(1)} MB.`);
    }
    return { name: given.name, data: await base64(given) };
  });
}

async function base64(given: File): Promise<string> {
  const bytes = new Uint8Array(await given.arrayBuffer());
  let text = "";
  // In pieces: a call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return btoa(text);
}
