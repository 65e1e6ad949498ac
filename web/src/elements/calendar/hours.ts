/** The hours of one or several days as a grid with entries on them: the week and the day of `ui-calendar`. */
import { make } from "../base";
import { addDays, named, today } from "../dates";
import { clock, type Entry, inOrder, isOn, isWhole, lanes, sideBySide, spanOn } from "./entries";

const STEP = 15;
const LONG: Intl.DateTimeFormatOptions = { weekday: "long", day: "numeric", month: "long" };

export interface HoursHooks {
  /** An hour was chosen. */
  readonly choose: (date: string, hour: number) => void;
  /** The name of a day was chosen. */
  readonly open: (date: string) => void;
  /** The keyboard goes to another day, perhaps one that is not shown yet. */
  readonly show: (date: string) => void;
  /** An entry was dragged or moved by keyboard. */
  readonly move: (entry: Entry, days: number, minutes: number) => void;
  readonly button: (entry: Entry) => HTMLButtonElement;
}

export class Hours {
  readonly element = make("div.hours");
  private readonly top = make("div.top");
  private readonly grid = make("table", { role: "grid", "aria-labelledby": "month-title" });
  private readonly layer = make("div.layer");
  private readonly body = make("div.body", {}, this.grid, this.layer);
  private days: readonly string[] = [];
  private entries: readonly Entry[] = [];
  private hour = 9;
  private placed = false;
  private dragged: { entry: Entry; date: string; grip: number } | null = null;

  constructor(private readonly hooks: HoursHooks) {
    this.element.append(make("div.sheet", {}, this.top, this.body));
    this.element.addEventListener("keydown", (event) => this.onKey(event));
    this.grid.addEventListener("click", (event) => {
      const { date, hour } = event.target instanceof Element ? (event.target.closest<HTMLElement>("[data-hour]")?.dataset ?? {}) : {};
      if (date !== undefined && hour !== undefined) {
        this.hour = Number(hour);
        this.hooks.choose(date, this.hour);
      }
    });
    this.element.addEventListener("dragover", (event) => event.preventDefault());
    this.element.addEventListener("drop", (event) => this.drop(event));
  }

  draw(days: readonly string[], day: string, entries: readonly Entry[]): void {
    const focused = (this.element.getRootNode() as ShadowRoot).activeElement as HTMLElement | null;
    const { entry, hour } = focused !== null && this.element.contains(focused) ? focused.dataset : {};
    this.days = days;
    this.entries = entries.filter((one) => days.some((date) => isOn(one, date))).sort(inOrder);
    this.element.style.setProperty("--days", String(days.length));
    this.top.replaceChildren(make("span"), ...days.map((date) => this.head(date, date === day)), ...this.whole());
    this.grid.replaceChildren(make("tbody", {}, ...Array.from({ length: 24 }, (_, at) => this.row(at, day))));
    this.layer.replaceChildren(...days.map((date) => this.column(date)));
    this.element.querySelector("[data-entry]")?.setAttribute("tabindex", "0");
    if (hour !== undefined) {
      this.focus();
    } else if (entry !== undefined) {
      this.focusEntry(this.element.querySelector<HTMLElement>(`[data-entry="${entry}"]`));
    }
    this.drawNow();
  }

  /** Show this day from this hour on, the first time that there is something to see. */
  scrollTo(day: string, hour: number): void {
    if (!this.placed && this.element.clientHeight > 0) {
      this.placed = true;
      this.hour = Math.min(Math.ceil(hour), 23);
      this.element.scrollTop = (this.body.clientHeight * hour) / 24;
      this.element.scrollLeft = (this.layer.clientWidth * this.days.indexOf(day)) / this.days.length;
    }
  }

  focus(): void {
    this.grid.querySelector<HTMLElement>("[tabindex='0']")?.focus();
  }

  /** Move the line that shows what time it is. */
  drawNow(): void {
    const now = new Date();
    const line = make("div.now-line", { "aria-hidden": "true", style: `top: ${((now.getHours() * 60 + now.getMinutes()) / 14.4).toFixed(2)}%` });
    this.layer.querySelector(".now-line")?.remove();
    this.layer.children[this.days.indexOf(today())]?.append(line);
  }

  private head(date: string, current: boolean): HTMLElement {
    const name = make("button.name", { type: "button", "data-head": date, tabindex: current ? 0 : -1, "aria-current": date === today() ? "date" : false });
    name.append(make("span.quiet", {}, named(date, LONG)), make("span", { "aria-hidden": "true" }, named(date, { weekday: "short" })), make("b", { "aria-hidden": "true" }, String(Number(date.slice(8)))));
    name.addEventListener("click", () => this.hooks.open(date));
    return name;
  }

  private whole(): HTMLElement[] {
    const entries = this.entries.filter(isWhole);
    const bars = lanes(entries, this.days).map(({ entry, lane, first, length }) =>
      make("li", { style: `grid-area: ${lane + 1} / ${first + 1} / auto / span ${length}` }, this.button(entry, this.days[first] ?? entry.day)),
    );
    return bars.length === 0 ? [] : [make("span.hour", { "aria-hidden": "true" }, "all day"), make("ul.whole", { "aria-label": "All day" }, ...bars)];
  }

  private row(hour: number, day: string): HTMLElement {
    const cells = this.days.map((date) => {
      const names = this.entries.filter((entry) => !isWhole(entry) && entry.day === date && Math.floor((entry.from ?? 0) / 60) === hour).length;
      const label = `${named(date, LONG)}, ${clock(hour * 60)}${names === 0 ? "" : `, ${names} ${names === 1 ? "entry" : "entries"}`}`;
      return make("td", { role: "gridcell", "data-date": date, "data-hour": hour, tabindex: date === day && hour === this.hour ? 0 : -1, "aria-label": label, class: date === today() ? "today" : false });
    });
    return make("tr", {}, make("th.hour", { scope: "row" }, clock(hour * 60)), ...cells);
  }

  private column(date: string): HTMLElement {
    const spans = this.entries.filter((entry) => !isWhole(entry) && isOn(entry, date)).map((entry) => ({ entry, ...spanOn(entry, date) }));
    const places = sideBySide(spans).map(({ entry, start, end, column, of, wide }) => {
      const at = { top: start / 14.4, height: (end - start) / 14.4, left: (column * 100) / of, width: (wide * 100) / of };
      const style = Object.entries(at).map(([name, value]) => `${name}: ${value.toFixed(3)}%`).join("; ");
      return make("li", { style, class: end - start < 45 ? "short" : false }, this.button(entry, date));
    });
    return make("div.column", {}, places.length > 0 && make("ul", { "aria-label": named(date, LONG) }, ...places));
  }

  private button(entry: Entry, date: string): HTMLElement {
    const button = this.hooks.button(entry);
    button.tabIndex = -1;
    button.draggable = true;
    button.addEventListener("keydown", (event) => this.onEntryKey(event, entry, button));
    button.addEventListener("dragstart", (event) => {
      event.dataTransfer?.setData("text/plain", String(entry.item.$));
      const grip = event.clientY - button.getBoundingClientRect().top;
      this.dragged = { entry, date, grip };
    });
    return button;
  }

  private drop(event: DragEvent): void {
    const { dragged } = this;
    const { left, width } = this.layer.getBoundingClientRect();
    const { top, height } = this.body.getBoundingClientRect();
    const date = this.days[Math.floor(((event.clientX - left) / width) * this.days.length)];
    this.dragged = null;
    if (dragged === null || date === undefined) {
      return;
    }
    event.preventDefault();
    const { entry, grip } = dragged;
    const start = Math.round((((event.clientY - grip - top) / height) * 1440) / STEP) * STEP;
    const days = (new Date(date).getTime() - new Date(dragged.date).getTime()) / 86_400_000;
    this.hooks.move(entry, days, isWhole(entry) || this.top.contains(event.target as Node) ? 0 : start - spanOn(entry, dragged.date).start);
  }

  private onKey(event: KeyboardEvent): void {
    const cell = (event.target as HTMLElement).dataset;
    const [date, length] = [cell["date"], this.days.length];
    if (date === undefined || event.altKey || event.ctrlKey || event.metaKey) {
      return;
    }
    const hour = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const days = { ArrowLeft: -1, ArrowRight: 1, PageUp: -length, PageDown: length, Home: -this.days.indexOf(date), End: length - 1 - this.days.indexOf(date) }[event.key];
    if (hour !== undefined) {
      this.hour = Math.min(Math.max(this.hour + hour, 0), 23);
      this.hooks.show(date);
    } else if (days !== undefined) {
      this.hooks.show(addDays(date, days));
    } else if (event.key === "Enter" || event.key === " ") {
      this.hooks.choose(date, this.hour);
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Arrows go from entry to entry; with Alt they move the entry. */
  private onEntryKey(event: KeyboardEvent, entry: Entry, button: HTMLElement): void {
    const across = { ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0;
    const down = { ArrowUp: -1, ArrowDown: 1 }[event.key] ?? 0;
    if (across + down === 0) {
      return;
    }
    event.preventDefault();
    if (event.altKey) {
      this.hooks.move(entry, across, isWhole(entry) ? 0 : down * STEP);
    } else {
      const all = [...this.element.querySelectorAll<HTMLElement>("[data-entry]")];
      this.focusEntry(all[all.indexOf(button) + across + down] ?? null);
    }
  }

  private focusEntry(button: HTMLElement | null): void {
    if (button !== null) {
      this.element.querySelectorAll<HTMLElement>("[data-entry][tabindex='0']").forEach((one) => (one.tabIndex = -1));
      button.tabIndex = 0;
      button.focus();
    }
  }
}
