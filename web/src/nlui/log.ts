/** The scrolling log: only a window of items is in the document, and a changed item replaces only itself. */
import { make } from "./dom";
import { type Acts, itemView } from "./items";
import type { Item } from "./state";
import { markdown } from "../chat/markdown";

const WINDOW = 60;
const STEP = 40;

export interface Log {
  readonly element: HTMLElement;
  show(items: readonly Item[]): void;
  /** Text of an answer while it is being written; "" when it is done. */
  typing(text: string): void;
}

export function log(acts: Acts, empty: HTMLElement): Log {
  const list = make("div.nlui-items", { role: "log", "aria-live": "polite" });
  const live = make("article.nlui-item.nlui-assistant", { "aria-label": "Assistant" });
  live.hidden = true;
  const element = make("div.nlui-log", { tabindex: "0", "aria-label": "Conversation" }, empty, list, live);
  let items: readonly Item[] = [];
  let first = 0;
  let drawn = new Map<string, Item>();

  const atEnd = (): boolean => element.scrollHeight - element.scrollTop - element.clientHeight < 80;
  const draw = (): void => {
    const wanted = items.slice(first);
    const kept = new Map<string, HTMLElement>();
    for (const child of [...list.children] as HTMLElement[]) {
      kept.set(child.dataset["item"] ?? "", child);
    }
    const next = new Map<string, Item>();
    let previous: Element | null = null;
    for (const item of wanted) {
      const old = kept.get(item.id);
      const node: HTMLElement = old && drawn.get(item.id) === item ? old : itemView(item, acts);
      if (old && old !== node) {
        old.replaceWith(node);
      } else if ((previous ? previous.nextElementSibling : list.firstElementChild) !== node) {
        list.insertBefore(node, previous ? previous.nextElementSibling : list.firstElementChild);
      }
      kept.delete(item.id);
      next.set(item.id, item);
      previous = node;
    }
    for (const gone of kept.values()) {
      gone.remove();
    }
    drawn = next;
    empty.hidden = items.length > 0;
  };

  element.addEventListener("scroll", () => {
    if (element.scrollTop < 200 && first > 0) {
      const below = element.scrollHeight - element.scrollTop;
      first = Math.max(0, first - STEP);
      draw();
      element.scrollTop = element.scrollHeight - below;
    } else if (atEnd() && items.length - first > WINDOW + STEP) {
      first = items.length - WINDOW;
      draw();
      element.scrollTop = element.scrollHeight;
    }
  });
  return {
    element,
    show(next) {
      const follow = atEnd() || items.length === 0;
      const fresh = items.length === 0 || next.length < items.length;
      items = next;
      if (fresh || follow) {
        first = Math.max(0, items.length - WINDOW);
      }
      draw();
      if (follow) {
        element.scrollTop = element.scrollHeight;
      }
    },
    typing(text) {
      const follow = atEnd();
      live.hidden = text === "";
      live.replaceChildren(make("div.nlui-bubble", {}, markdown(text)));
      if (follow) {
        element.scrollTop = element.scrollHeight;
      }
    },
  };
}
