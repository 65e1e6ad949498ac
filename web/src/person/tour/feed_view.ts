/** The list of what the agent of the tour says, calls and writes. */
import { highlight } from "../../chat/highlight";
import { markdown } from "../../chat/markdown";
import { make } from "../../nlui/dom";

export interface Entry {
  readonly kind: "say" | "call" | "file";
  readonly text: string;
  readonly step: number;
  readonly body: string;
  readonly result: string;
  readonly state: "running" | "done" | "failed";
}

const LANGUAGES: Readonly<Record<string, string>> = { lua: "lua", html: "html" };
const MARKS = { running: "…", done: "✓", failed: "✗" } as const;

export interface FeedView {
  readonly element: HTMLElement;
  /** Show these entries; those that were shown before keep their elements. */
  show(entries: readonly Entry[]): void;
  clear(): void;
  /** Scroll to the last entry. */
  reveal(): void;
}

export function feedView(): FeedView {
  // Only what is said is read aloud: a list of calls would drown it.
  const spoken = make("div.person-spoken", { "aria-live": "polite" });
  const list = make("ol.tour-feed", { "aria-label": "What the agent does", tabindex: "0" });
  const shown: { readonly entry: Entry; readonly element: HTMLElement }[] = [];
  const reveal = (): void => {
    list.scrollTop = list.scrollHeight;
  };
  return {
    element: make("div.tour-scroll", {}, list, spoken),
    show(entries) {
      shown.splice(entries.length).forEach(({ element }) => element.remove());
      entries.forEach((entry, at) => {
        const before = shown[at];
        if (before && same(before.entry, entry)) {
          return;
        }
        const element = item(entry);
        if (before) {
          before.element.replaceWith(element);
        } else {
          element.classList.add("tour-new");
          list.append(element);
          if (entry.kind === "say") {
            spoken.textContent = element.textContent;
          }
        }
        shown[at] = { entry, element };
      });
      reveal();
    },
    reveal,
    clear() {
      shown.splice(0);
      list.replaceChildren();
    },
  };
}

function same(one: Entry, other: Entry): boolean {
  return one.state === other.state && one.kind === other.kind && one.text === other.text && one.body === other.body && one.result === other.result;
}

function item(entry: Entry): HTMLElement {
  const made = make("li", { class: `tour-${entry.kind}` });
  if (entry.kind === "say") {
    made.append(markdown(entry.text));
  } else if (entry.kind === "file") {
    made.append(make("div.tour-path", {}, entry.text));
    if (entry.body) {
      made.append(code(entry.body, LANGUAGES[entry.text.split(".").at(-1) ?? ""] ?? ""));
    }
  } else {
    const mark = make("span.tour-mark", { "aria-label": entry.state }, MARKS[entry.state]);
    mark.classList.add(`tour-${entry.state}`);
    made.append(mark, make("b", {}, entry.text), make("span.tour-args", {}, entry.body === "{}" ? "" : entry.body));
  }
  return made;
}

function code(text: string, language: string): HTMLElement {
  const block = make("pre");
  for (const piece of highlight(outdented(text), language)) {
    block.append(piece.kind === "plain" ? piece.text : make("span", { class: `chat-code-${piece.kind}` }, piece.text));
  }
  return block;
}

/** Without the spaces that all lines begin with, which would take the room of the code. */
function outdented(text: string): string {
  const indents = text.split("\n").filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  const common = Math.min(...indents, text.length);
  return text.split("\n").map((line) => line.slice(common)).join("\n");
}
