/**
 * The virtualized log: only items near the viewport are in the document. Heights are estimated until an item has been
 * rendered and measured. Elements outside the document are kept for a while, with unfolded details and typed text.
 */
import { markdown } from "../chat/markdown";
import { make } from "./dom";
import { type ItemActions, itemView } from "./items";
import type { Item } from "./state";

const GAP = 14;
const GUESS = 72;
const BEYOND = 600;
const KEPT = 300;
const NEAR = 80;

interface Drawn {
  readonly item: Item;
  readonly slot: HTMLElement;
}

export interface Log {
  readonly element: HTMLElement;
  show(items: readonly Item[]): void;
  /** Show the unfinished answer, and what the model thinks before it, folded; "" hides them. */
  typing(text: string, thought?: string): void;
  /** Draw all items anew. */
  redraw(): void;
  /** Scroll to an item and highlight it. */
  readonly reveal: (index: number) => void;
}

export function log(actions: ItemActions, empty: HTMLElement): Log {
  const list = make("div.nlui-items");
  const live = make("article.nlui-live", { "aria-label": "Assistant is writing" });
  const thoughts = make("div.nlui-thoughts");
  const thinking = make("details.nlui-item.nlui-reasoning", {}, make("summary", {}, "Thinking…"), thoughts); // unfolded, it stays so
  const written = make("div.nlui-bubble.chat-body");
  live.append(thinking, written);
  live.hidden = true;
  const element = make("div.nlui-log", { tabindex: "0", role: "region", "aria-label": "Conversation" }, empty, list, live);
  const heights = new Map<string, number>();
  const drawn = new Map<string, Drawn>();
  const sizes = new ResizeObserver((entries) => measured(entries));
  let items: readonly Item[] = [];
  let tops: number[] = [0];
  let sticking = true;
  let queued = false;

  const heightOf = (item: Item): number => heights.get(item.id) ?? GUESS;
  const layOut = (): void => {
    tops = [0];
    for (const [at, item] of items.entries()) {
      tops.push((tops[at] ?? 0) + heightOf(item) + GAP);
    }
    list.style.height = `${Math.max(0, (tops.at(-1) ?? 0) - GAP)}px`;
  };
  const measured = (entries: readonly ResizeObserverEntry[]): void => {
    const top = element.scrollTop - list.offsetTop;
    let above = 0;
    for (const entry of entries) {
      const id = (entry.target as HTMLElement).dataset["item"] ?? "";
      const height = Math.ceil(entry.borderBoxSize[0]?.blockSize ?? 0);
      const at = height > 0 ? items.findIndex((item) => item.id === id) : -1;
      const item = items[at];
      if (item && heightOf(item) !== height) {
        above += (tops[at + 1] ?? 0) <= top ? height - heightOf(item) : 0;
        heights.set(id, height);
      }
    }
    layOut();
    if (sticking) {
      element.scrollTop = element.scrollHeight;
    } else if (above !== 0) {
      element.scrollTop += above;
    }
    draw();
  };
  /** Return the index of the first item that ends below `y`, by binary search. */
  const indexAt = (y: number): number => {
    let low = 0;
    let high = items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((tops[middle + 1] ?? 0) < y) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  const slotOf = (item: Item, at: number): HTMLElement => {
    const known = drawn.get(item.id);
    let slot = known?.slot;
    if (!slot) {
      slot = make("div.nlui-slot", { role: "article", tabindex: "-1" });
      slot.dataset["item"] = item.id;
    }
    if (known?.item !== item) {
      const view = itemView(item, actions);
      slot.setAttribute("aria-label", view.label);
      slot.replaceChildren(view.element);
      drawn.delete(item.id);
      drawn.set(item.id, { item, slot });
    }
    slot.setAttribute("aria-posinset", String(at + 1));
    slot.setAttribute("aria-setsize", String(items.length));
    slot.style.top = `${tops[at] ?? 0}px`;
    return slot;
  };
  const draw = (): void => {
    const top = element.scrollTop - list.offsetTop;
    const first = indexAt(top - BEYOND);
    const last = Math.min(items.length - 1, indexAt(top + element.clientHeight + BEYOND));
    const wanted = new Set<HTMLElement>();
    for (let at = first; at <= last; at++) {
      const item = items[at];
      if (item) {
        wanted.add(slotOf(item, at));
      }
    }
    // The item with the focus stays in the document, so that typed text is not interrupted.
    const held = document.activeElement?.closest<HTMLElement>(".nlui-slot");
    for (const child of [...list.children] as HTMLElement[]) {
      if (!wanted.has(child)) {
        const at = child === held ? items.findIndex((item) => item.id === child.dataset["item"]) : -1;
        if (at >= 0) {
          child.style.top = `${tops[at] ?? 0}px`;
        } else {
          sizes.unobserve(child);
          child.remove();
        }
      }
    }
    let previous: Element | null = null;
    for (const slot of wanted) {
      const next: Element | null = previous ? previous.nextElementSibling : list.firstElementChild;
      if (next !== slot) {
        list.insertBefore(slot, next);
        sizes.observe(slot);
      }
      previous = slot;
    }
    forget();
    empty.hidden = items.length > 0;
    // A feed without articles is an error to screen readers.
    const roles = { role: "feed", "aria-label": "Messages" };
    for (const [name, value] of Object.entries(roles)) {
      if (items.length > 0) {
        list.setAttribute(name, value);
      } else {
        list.removeAttribute(name);
      }
    }
  };
  const forget = (): void => {
    for (const [id, { slot }] of drawn) {
      if (drawn.size <= KEPT) {
        return;
      }
      if (!slot.isConnected) {
        drawn.delete(id);
      }
    }
  };
  const later = (): void => {
    if (!queued) {
      queued = true;
      requestAnimationFrame(() => {
        queued = false;
        draw();
      });
    }
  };
  const reveal = (at: number): void => {
    const item = items[at];
    if (!item) {
      return;
    }
    sticking = false;
    element.scrollTop = list.offsetTop + (tops[at] ?? 0) - element.clientHeight / 3;
    draw();
    const slot = drawn.get(item.id)?.slot;
    slot?.focus({ preventScroll: true });
    slot?.animate([{ outlineColor: "var(--term-accent)" }, { outlineColor: "transparent" }], 1200);
  };
  const step = (by: number): void => {
    const held = document.activeElement?.closest<HTMLElement>(".nlui-slot");
    const here = held ? items.findIndex((item) => item.id === held.dataset["item"]) : by > 0 ? -1 : items.length;
    reveal(Math.min(items.length - 1, Math.max(0, here + by)));
  };

  element.addEventListener("scroll", () => {
    sticking = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
    later();
  });
  element.addEventListener("keydown", (event) => {
    const inSlot = event.target === element || (event.target instanceof HTMLElement && event.target.classList.contains("nlui-slot"));
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (inSlot && by !== undefined) {
      event.preventDefault();
      step(by);
    } else if (inSlot && (event.key === "Home" || event.key === "End")) {
      event.preventDefault();
      reveal(event.key === "Home" ? 0 : items.length - 1);
      sticking = event.key === "End"; // also for items that arrive before the scroll event
    }
  });
  new ResizeObserver(later).observe(element);
  return {
    element,
    reveal,
    show(next) {
      const fresh = items.length === 0;
      items = next;
      sticking ||= fresh;
      layOut();
      draw();
      if (sticking) {
        element.scrollTop = element.scrollHeight;
        draw();
      }
    },
    redraw() {
      drawn.clear();
      list.replaceChildren();
      draw();
    },
    typing(text, thought = "") {
      live.hidden = text === "" && thought === "";
      thinking.hidden = thought === "";
      thoughts.textContent = thought;
      written.hidden = text === "";
      written.replaceChildren(markdown(text));
      if (sticking) {
        element.scrollTop = element.scrollHeight;
      }
    },
  };
}
