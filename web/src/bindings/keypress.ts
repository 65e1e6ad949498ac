/** `ui-event-keypress-[mods-]KEY="path"`: one key with exactly these modifiers; every press counts. */
import { type Binding, listen } from "./binding";

const NAMES: Readonly<Record<string, string>> = {
  arrowleft: "left",
  arrowright: "right",
  arrowup: "up",
  arrowdown: "down",
  " ": "space",
  spacebar: "space",
  esc: "escape",
};

const MODIFIERS = ["ctrl", "shift", "alt", "meta"] as const;
type Modifier = (typeof MODIFIERS)[number];

export interface Chord {
  readonly key: string;
  readonly modifiers: ReadonlySet<Modifier>;
}

/** Parse a chord such as `ctrl-shift-enter`; the key may be "-". */
export function parseChord(text: string): Chord {
  const modifiers = new Set<Modifier>();
  let rest = text.toLowerCase();
  for (;;) {
    const found = MODIFIERS.find((name) => rest.startsWith(`${name}-`));
    if (found === undefined) {
      return { key: rest, modifiers };
    }
    modifiers.add(found);
    rest = rest.slice(found.length + 1);
  }
}

export function matches(chord: Chord, event: KeyboardEvent): boolean {
  const pressed = event.key.toLowerCase();
  // A character such as "?" needs shift on some keyboards, so shift need not be named.
  const shiftIsPartOfKey = pressed.length === 1 && pressed === event.key && !/[a-z0-9 ]/.test(pressed);
  return (
    (NAMES[pressed] ?? pressed) === chord.key &&
    event.ctrlKey === chord.modifiers.has("ctrl") &&
    event.altKey === chord.modifiers.has("alt") &&
    event.metaKey === chord.modifiers.has("meta") &&
    (event.shiftKey === chord.modifiers.has("shift") || (shiftIsPartOfKey && event.shiftKey))
  );
}

/** Whether the browser's own action must not happen: Enter inserts a line or submits, chords are shortcuts. */
function takesOver({ key, modifiers }: Chord): boolean {
  return key === "enter" || modifiers.has("ctrl") || modifiers.has("meta") || modifiers.has("alt");
}

export const keypress: Binding = {
  attribute: "ui-event-keypress-",
  access: (_, text) => (text.calls || text.takesValue ? "action" : "rw"),
  bind({ element, argument, text, send, syncValue }) {
    const chord = parseChord(argument);
    const release = listen(element, "keydown", (event) => {
      if (event instanceof KeyboardEvent && !event.isComposing && matches(chord, event)) {
        if (takesOver(chord)) {
          event.preventDefault();
        }
        syncValue();
        if (text.calls) {
          send();
        } else {
          send(chord.key);
        }
      }
    });
    return { release };
  },
};
