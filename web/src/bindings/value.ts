/** `ui-value="path"`: the value of a field, two-way, or the text of any other element. */
import type { PathText } from "../path";
import type { Json } from "../protocol";
import { takesData } from "../elements/contracts";
import { numberText } from "../elements/numbers";
import { type Access, type Binding, type Bound, type Context, listen } from "./binding";
import { writeKeepingCaret } from "./caret";
import { knownValue, rememberValue } from "./known";
import { type Field, fieldOf, isEditable, TEXT } from "./fields";

const CHANGE_EVENTS = ["ui-event-change", "ui-event-sl-change", "ui-event-input", "ui-event-sl-input"];

export const value: Binding = {
  attribute: "ui-value",
  access: (element, text): Access => (isEditable(element) && !text.calls ? "rw" : "r"),
  bind(context) {
    const field = fieldOf(context.element);
    if (takesData(context.element.localName)) {
      return asked(context, field);
    }
    return field === TEXT && context.access === "r" ? shown(context) : exchanged(context, field);
  },
};

function shown({ element, text }: Context): Bound {
  const written = numbersAs(text.options);
  return { write: (next) => TEXT.write(element, written(next)), read: () => element.textContent };
}

/** How `?decimals=2&unit=€` writes numbers; the words are those of `ui-column`. Other values stay as they are. */
function numbersAs(options: PathText["options"]): (value: Json) => Json {
  const unit = options.get("unit") ?? "";
  const decimals = options.get("decimals");
  if (unit === "" && decimals === undefined) {
    return (value) => value;
  }
  const digits = decimals !== undefined && /^\d{1,2}$/.test(decimals) ? Number(decimals) : null;
  return (value) => (typeof value === "number" ? numberText(value, digits, unit) : value);
}

/** An element that gets its data in parts, and asks for them. */
function asked({ element, send }: Context, field: Field): Bound {
  const release = listen(element, "ui-ask", (event) => send((event as CustomEvent<{ value: Json }>).detail.value));
  return { write: (next) => field.write(element, next), release };
}

function exchanged(context: Context, field: Field): Bound {
  const { element, access } = context;
  const writes = access !== "r";
  // The last value that the server knows. If the element shows another one, it was typed and not sent yet.
  let known: Json = context.kept ? (knownValue(element) ?? field.read(element)) : field.read(element);
  if (writes) {
    rememberValue(element, known);
  }
  const remember = (next: Json): void => {
    known = next;
    if (writes) {
      rememberValue(element, next);
    }
  };
  const pending = (): boolean => writes && !same(field.read(element), known);
  const sync = (): void => {
    const live = field.read(element);
    if (writes && (access === "action" || access === "w" || !same(live, known))) {
      remember(live);
      context.send(live);
    }
  };
  // With an explicit change event a toggle would flip twice: by its value and by the method.
  const takenOver = field.choice && CHANGE_EVENTS.some(context.hasSibling);
  const releases = writes ? reporters(context, takenOver ? [] : eventsOf(context, field), sync, remember) : [];
  return {
    write(next) {
      if (access === "w" || access === "action" || (pending() && hasFocus(element))) {
        return;
      }
      writeKeepingCaret(element, () => field.write(element, next));
      remember(field.read(element));
    },
    read: () => field.read(element),
    sync: () => {
      if (!takenOver && pending()) {
        sync();
      }
    },
    release: () => releases.forEach((release) => release()),
  };
}

function eventsOf({ text }: Context, field: Field): string[] {
  return [...field.commits, ...(text.options.has("keypress") ? field.types : [])];
}

function reporters(
  { element, send }: Context,
  events: string[],
  sync: () => void,
  remember: (value: Json) => void,
): (() => void)[] {
  const report = (): void => {
    // Of a radio group only the button that was switched on sends its value.
    if (!(element instanceof HTMLInputElement && element.type === "radio" && !element.checked)) {
      sync();
    }
  };
  const announced = listen(element, "ui-value-change", (event) => {
    const next = (event as CustomEvent<{ value?: Json } | null>).detail?.value ?? null;
    remember(next);
    send(next);
  });
  return [...events.map((event) => listen(element, event, report)), announced];
}

function hasFocus(element: Element): boolean {
  return element.ownerDocument.activeElement === element;
}

function same(a: Json, b: Json): boolean {
  return a === b || (typeof a === "object" && typeof b === "object" && JSON.stringify(a) === JSON.stringify(b));
}
