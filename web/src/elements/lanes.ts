/** Lists whose entries are moved by dragging or by keyboard, within a list and between lists; `ui-board` and `ui-sortable`. */
import { make } from "./base";

export interface Entry {
  readonly key: string;
  readonly content: readonly (Node | string)[];
}

export interface Lane {
  readonly key: string;
  readonly label: string;
  readonly entries: readonly Entry[];
}

export interface LaneHooks {
  /** Put an entry into a lane, before the entry with that key or at the end. */
  readonly move: (key: string, lane: string, before: string | null) => void;
  readonly open: (key: string) => void;
  readonly say: (text: string) => void;
  readonly heads: boolean;
}

interface Held {
  readonly key: string;
  lane: number;
  at: number;
  readonly from: { readonly lane: number; readonly at: number };
}

const DRAG_DISTANCE = 6;

export class Lanes {
  readonly element = make("div.lanes");
  private lanes: readonly Lane[] = [];
  /** The entry that is carried by keyboard, and where it would be put. */
  private held: Held | null = null;
  private focused = "";

  constructor(private readonly hooks: LaneHooks) {
    this.element.addEventListener("keydown", (event) => this.onKey(event));
    this.element.addEventListener("pointerdown", (event) => this.onPointer(event));
    this.element.addEventListener("focusin", (event) => (this.focused = (event.target as HTMLElement).dataset["key"] ?? this.focused));
  }

  show(lanes: readonly Lane[]): void {
    this.lanes = lanes;
    if (this.dragging) {
      return;
    }
    const active = this.element.contains((this.element.getRootNode() as ShadowRoot).activeElement);
    // Without entries nothing in it has the focus, and it may be wider than its place.
    this.element.tabIndex = lanes.some(({ entries }) => entries.length > 0) ? -1 : 0;
    this.element.replaceChildren(...this.arranged().map((lane) => this.lane(lane)));
    if (active) {
      this.entry(this.focused)?.focus();
    }
  }

  /** The lanes as they would be if the carried entry were put down. */
  private arranged(): Lane[] {
    const { held } = this;
    if (held === null) {
      return [...this.lanes];
    }
    const moved = this.lanes[held.from.lane]?.entries[held.from.at];
    return this.lanes.map((lane, index) => {
      const entries = lane.entries.filter((entry) => entry !== moved);
      return index === held.lane && moved !== undefined ? { ...lane, entries: [...entries.slice(0, held.at), moved, ...entries.slice(held.at)] } : { ...lane, entries };
    });
  }

  private lane({ key, label, entries }: Lane): HTMLElement {
    const reachable = entries.some((entry) => entry.key === this.focused) ? this.focused : entries[0]?.key;
    const list = make("ul.entries", { "aria-label": label, "data-lane": key }, ...entries.map((entry) => make("li", {}, this.card(entry, entry.key === reachable))));
    return make("section.lane", { "aria-label": label }, this.hooks.heads && make("div.head", {}, make("span", {}, label), make("span.count", { "aria-hidden": "true" }, String(entries.length))), list);
  }

  private card({ key, content }: Entry, reachable: boolean): HTMLElement {
    const held = this.held?.key === key;
    const card = make("div.card", {
      role: "button", tabindex: reachable ? 0 : -1, "data-key": key, "aria-roledescription": "movable entry", "aria-pressed": String(held), class: held ? "card held" : "card",
    }, ...content);
    card.addEventListener("click", () => {
      if (!this.dropped) {
        this.hooks.open(key);
      }
      this.dropped = false;
    });
    return card;
  }

  private entry(key: string): HTMLElement | null {
    return [...this.element.querySelectorAll<HTMLElement>("[data-key]")].find((one) => one.dataset["key"] === key) ?? null;
  }

  // Keyboard

  private placeOf(key: string): { lane: number; at: number } | null {
    for (const [lane, { entries }] of this.lanes.entries()) {
      const at = entries.findIndex((entry) => entry.key === key);
      if (at >= 0) {
        return { lane, at };
      }
    }
    return null;
  }

  private onKey(event: KeyboardEvent): void {
    const key = (event.target as HTMLElement).dataset["key"];
    const place = key === undefined ? null : this.placeOf(key);
    if (key === undefined || place === null) {
      return;
    }
    const step = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
    if (step !== undefined) {
      const [across = 0, along = 0] = step;
      if (this.held === null) {
        this.walk(place, across, along);
      } else {
        this.carry(this.held, across, along);
      }
    } else if (event.key === " ") {
      this.lift(key, place);
    } else if (event.key === "Escape" && this.held !== null) {
      this.held = null;
      this.hooks.say("Not moved");
      this.show(this.lanes);
    } else if (event.key === "Enter") {
      this.hooks.open(key);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private walk(place: { lane: number; at: number }, across: number, along: number): void {
    let lane = place.lane + across;
    while (across !== 0 && this.lanes[lane] !== undefined && this.lanes[lane]?.entries.length === 0) {
      lane += across;
    }
    const entries = this.lanes[lane]?.entries ?? [];
    const next = entries[Math.max(0, Math.min(entries.length - 1, place.at + along))];
    if (next !== undefined) {
      this.entry(next.key)?.focus();
    }
  }

  private lift(key: string, place: { lane: number; at: number }): void {
    const { held } = this;
    if (held === null) {
      this.held = { key, ...place, from: place };
      this.hooks.say("Picked up. Arrow keys move it, Space drops it, Escape puts it back.");
      this.show(this.lanes);
      return;
    }
    this.held = null;
    this.put(key, held.lane, held.at);
  }

  private carry(held: Held, across: number, along: number): void {
    held.lane = Math.max(0, Math.min(this.lanes.length - 1, held.lane + across));
    const lane = this.lanes[held.lane];
    const others = lane?.entries.filter(({ key }) => key !== held.key).length ?? 0;
    held.at = Math.max(0, Math.min(others, held.at + along));
    this.hooks.say(`${lane?.label ?? ""}, place ${held.at + 1} of ${others + 1}`);
    this.show(this.lanes);
  }

  private put(key: string, lane: number, at: number): void {
    const target = this.lanes[lane];
    const others = target?.entries.filter((entry) => entry.key !== key) ?? [];
    if (target !== undefined) {
      this.hooks.say(`Put into ${target.label}, place ${at + 1}`);
      this.hooks.move(key, target.key, others[at]?.key ?? null);
    }
    this.show(this.lanes);
  }

  // Pointer

  private dragging = false;
  private dropped = false;

  private onPointer(event: PointerEvent): void {
    const card = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-key]") : null;
    const touchOnCard = event.pointerType === "touch" && !(event.target as Element).matches(".handle");
    if (card === null || event.button !== 0 || touchOnCard) {
      return;
    }
    const [startX, startY] = [event.clientX, event.clientY];
    const ghost = make("li.ghost");
    const moved = (now: PointerEvent): void => {
      if (!this.dragging && Math.hypot(now.clientX - startX, now.clientY - startY) > DRAG_DISTANCE) {
        this.dragging = true;
        ghost.style.height = `${card.offsetHeight}px`;
        card.classList.add("dragged");
        card.setPointerCapture(now.pointerId);
      }
      if (this.dragging) {
        card.style.translate = `${now.clientX - startX}px ${now.clientY - startY}px`;
        this.placeGhost(ghost, card, now);
      }
    };
    const stop = (): void => {
      removeEventListener("pointermove", moved);
      removeEventListener("pointerup", up);
      removeEventListener("pointercancel", stop);
      this.dragging = false;
      card.style.translate = "";
      card.classList.remove("dragged");
      ghost.remove();
      this.show(this.lanes);
    };
    const up = (): void => {
      const list = ghost.parentElement;
      const was = this.dragging;
      const lane = this.lanes.findIndex(({ key }) => key === list?.dataset["lane"]);
      const before = [...(list?.children ?? [])].filter((one) => one.firstElementChild !== card);
      const at = before.indexOf(ghost);
      stop();
      this.dropped = was;
      if (was && lane >= 0) {
        this.put(card.dataset["key"] ?? "", lane, at);
      }
    };
    addEventListener("pointermove", moved);
    addEventListener("pointerup", up);
    addEventListener("pointercancel", stop);
  }

  /** Show where the entry would be put: in the list below the pointer, before the first entry whose middle is lower. */
  private placeGhost(ghost: HTMLElement, card: HTMLElement, { clientX, clientY }: PointerEvent): void {
    const lists = [...this.element.querySelectorAll<HTMLElement>(".entries")];
    const distance = (list: HTMLElement): number => {
      const box = (list.closest(".lane") ?? list).getBoundingClientRect();
      return Math.hypot(Math.max(box.left - clientX, 0, clientX - box.right), Math.max(box.top - clientY, 0, clientY - box.bottom));
    };
    const list = lists.sort((a, b) => distance(a) - distance(b))[0];
    const others = [...(list?.children ?? [])].filter((one) => one !== ghost && one.firstElementChild !== card);
    const next = others.find((one) => {
      const box = one.getBoundingClientRect();
      return clientY < box.top + box.height / 2;
    });
    list?.insertBefore(ghost, next ?? null);
  }
}
