/** The days of a month as a grid of buttons, moved through by keyboard; part of `ui-date` and `ui-calendar`. */
import { iconButton, make } from "./base";
import { addDays, addMonths, firstWeekday, named, today, weekday, weeksOf } from "./dates";
import { ICON } from "./icons";

export interface MonthHooks {
  /** A day was chosen. */
  readonly choose: (date: string) => void;
  /** What a cell shows below its number. */
  readonly cell?: (date: string) => readonly Node[];
  readonly allowed?: (date: string) => boolean;
  readonly selected: (date: string) => "" | "start" | "inside" | "end" | "only";
  /** The keyboard or a button has gone to another day. */
  readonly moved?: (date: string, before: string) => void;
}

export class Month {
  readonly element = make("div.month");
  /** The name of the month. */
  readonly title = make("div.title", { "aria-live": "polite", id: "month-title" });
  private readonly grid = make("table", { role: "grid", "aria-labelledby": "month-title" });
  /** The day that the keyboard is on; its month is shown. */
  day = today();

  constructor(private readonly hooks: MonthHooks) {
    this.element.append(this.grid);
    this.grid.addEventListener("keydown", (event) => this.onKey(event));
    this.grid.addEventListener("click", (event) => {
      const cell = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-date]") : null;
      if (cell?.dataset["date"] !== undefined) {
        this.choose(cell.dataset["date"]);
      }
    });
  }

  /** The title between buttons that turn the pages. */
  head(): HTMLElement {
    const back = iconButton("Previous month", ICON.left, () => this.show(addMonths(this.day, -1)));
    const on = iconButton("Next month", ICON.right, () => this.show(addMonths(this.day, 1)));
    const now = make("button.now", { type: "button" }, "Today");
    now.addEventListener("click", () => this.show(today()));
    return make("div.head", {}, back, this.title, now, on);
  }

  show(date: string): void {
    const before = this.day;
    this.day = date;
    this.draw();
    this.hooks.moved?.(date, before);
  }

  focus(): void {
    this.cellOf(this.day)?.focus();
  }

  draw(): void {
    const firstDay = firstWeekday(undefined);
    const weeks = weeksOf(this.day, firstDay);
    const heads = (weeks[0] ?? []).map((date) =>
      make("th", { scope: "col", abbr: named(date, { weekday: "long" }) }, named(date, { weekday: "short" })),
    );
    this.title.textContent = named(this.day, { month: "long", year: "numeric" });
    const focused = this.grid.contains((this.grid.getRootNode() as ShadowRoot).activeElement);
    const rows = weeks.map((week) => make("tr", {}, ...week.map((date) => this.cell(date))));
    this.grid.replaceChildren(make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows));
    if (focused) {
      this.focus();
    }
  }

  private cell(date: string): HTMLElement {
    const selected = this.hooks.selected(date);
    const allowed = this.hooks.allowed?.(date) ?? true;
    const classes = ["day", ...(date.slice(0, 7) === this.day.slice(0, 7) ? [] : ["other"]), ...(date === today() ? ["today"] : []), ...(selected === "" ? [] : [selected])];
    const whole = make("span.quiet", {}, named(date, { weekday: "long", day: "numeric", month: "long", year: "numeric" }));
    const cell = make("td", {
      role: "gridcell", class: classes.join(" "), "data-date": date, tabindex: date === this.day ? 0 : -1,
      "aria-selected": String(selected !== ""), "aria-disabled": allowed ? false : "true", "aria-current": date === today() ? "date" : false,
    }, whole, make("span.number", { "aria-hidden": "true" }, String(Number(date.slice(8)))));
    cell.append(...(this.hooks.cell?.(date) ?? []));
    return cell;
  }

  private choose(date: string): void {
    if (this.hooks.allowed?.(date) ?? true) {
      this.day = date;
      this.hooks.choose(date);
    }
  }

  private cellOf(date: string): HTMLElement | null {
    return this.grid.querySelector<HTMLElement>(`[data-date="${date}"]`);
  }

  private onKey(event: KeyboardEvent): void {
    const firstDay = firstWeekday(undefined);
    const fromFirst = (weekday(this.day) - firstDay + 7) % 7;
    const next: Readonly<Record<string, () => string>> = {
      ArrowLeft: () => addDays(this.day, -1), ArrowRight: () => addDays(this.day, 1), ArrowUp: () => addDays(this.day, -7), ArrowDown: () => addDays(this.day, 7),
      PageUp: () => addMonths(this.day, event.shiftKey ? -12 : -1), PageDown: () => addMonths(this.day, event.shiftKey ? 12 : 1),
      Home: () => addDays(this.day, -fromFirst), End: () => addDays(this.day, 6 - fromFirst),
    };
    const move = next[event.key];
    if (move !== undefined) {
      this.show(move());
      this.focus();
    } else if ((event.key === "Enter" || event.key === " ") && (event.target as Element).matches("[data-date]")) {
      this.choose(this.day);
    } else {
      return;
    }
    event.preventDefault();
  }
}
