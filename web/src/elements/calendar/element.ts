/** `ui-calendar`: entries of a Lua list on the days of a month; moving one sets its date. */
import { make, plainText, styleSheet, UiElement } from "../base";
import { addDays, daysBetween, isDate, named } from "../dates";
import { type Item, itemsOf, reference, textFields } from "../items";
import { Month } from "../month";
import monthCss from "../month.css?inline";
import css from "./calendar.css?inline";

const sheets = [monthCss, css].map(styleSheet);

class UiCalendar extends UiElement {
  private readonly month: Month = new Month({
    choose: (date) => this.pick(date),
    cell: (date) => this.cell(date),
    selected: (date) => (date === this.month.day ? "only" : ""),
    turned: (date) => {
      this.drawDay();
      this.tell("month", date.slice(0, 7));
    },
  });
  private readonly day = make("section.agenda", { "aria-live": "polite" });
  private shown = "";

  constructor() {
    super(...sheets);
    this.root.append(this.month.element, this.day);
    this.month.element.addEventListener("dragstart", (event) => {
      const id = (event.target as HTMLElement).dataset["id"];
      event.dataTransfer?.setData("text/plain", id ?? "");
    });
    this.month.element.addEventListener("dragover", (event) => event.preventDefault());
    this.month.element.addEventListener("drop", (event) => this.drop(event));
  }

  private get field(): string {
    return this.option("by", "date");
  }

  private startOf(item: Item): string {
    return plainText(item[this.field]).slice(0, 10);
  }

  /** The last day of an entry, its own if it has none. */
  private endOf(item: Item): string {
    const end = plainText(item["to"]).slice(0, 10);
    return isDate(end) ? end : this.startOf(item);
  }

  private on(date: string): Item[] {
    const items = itemsOf(this.value).filter((item) => this.startOf(item) <= date && this.endOf(item) >= date && isDate(this.startOf(item)));
    return items.sort((a, b) => plainText(a["time"]).localeCompare(plainText(b["time"])));
  }

  private textOf(item: Item): string {
    const time = plainText(item["time"]) || (/T(\d\d:\d\d)/.exec(plainText(item[this.field]))?.[1] ?? "");
    return `${time === "" ? "" : `${time} `}${textFields(item, this.option("text"))}`;
  }

  private cell(date: string): Node[] {
    const items = this.on(date);
    const content = items.slice(0, 3).map((item) => make("span.entry", { draggable: "true", "data-id": String(item.$), title: this.textOf(item) }, this.textOf(item)));
    const rest = items.slice(3).map((item) => this.textOf(item)).join(", ");
    return rest === "" ? content : [...content, make("span.more", { "aria-hidden": "true" }, `+${items.length - 3}`), make("span.quiet", {}, rest)];
  }

  protected render(): void {
    const asked = this.option("day");
    if (isDate(asked) && asked !== this.shown) {
      this.shown = asked;
      this.month.day = asked;
    }
    this.month.draw();
    this.drawDay();
  }

  /** The entries of the chosen day, as buttons that move by Alt and arrows. */
  private drawDay(): void {
    const date = this.month.day;
    const focused = (this.root.activeElement as HTMLElement | null)?.dataset["entry"];
    const items = this.on(date);
    const rows = items.map((item) => {
      const button = make("button", { type: "button", "data-entry": String(item.$), "aria-keyshortcuts": "Alt+ArrowLeft Alt+ArrowRight Alt+ArrowUp Alt+ArrowDown" }, this.textOf(item));
      button.addEventListener("click", () => this.tell("select", reference(item)));
      button.addEventListener("keydown", (event) => this.onKey(event, item));
      return make("li", {}, button);
    });
    const empty = make("p", {}, this.option("empty", "Nothing on this day."));
    this.day.replaceChildren(make("h3", {}, named(date, { weekday: "long", day: "numeric", month: "long" })), rows.length > 0 ? make("ul", {}, ...rows) : empty);
    this.day.querySelector<HTMLElement>(`[data-entry="${focused ?? ""}"]`)?.focus();
  }

  private pick(date: string): void {
    this.month.draw();
    this.month.focus();
    this.drawDay();
    this.tell("day", date);
  }

  private onKey(event: KeyboardEvent, item: Item): void {
    const days = event.altKey ? { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[event.key] : undefined;
    if (days !== undefined) {
      event.preventDefault();
      this.month.day = addDays(this.month.day, days);
      this.move(item, days);
    }
  }

  private drop(event: DragEvent): void {
    const id = event.dataTransfer?.getData("text/plain");
    const date = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-date]")?.dataset["date"] : undefined;
    const item = itemsOf(this.value).find((one) => String(one.$) === id);
    if (item !== undefined && date !== undefined) {
      event.preventDefault();
      this.move(item, daysBetween(this.startOf(item), date));
    }
  }

  private move(item: Item, days: number): void {
    const rest = plainText(item[this.field]).slice(10);
    const set: Record<string, string> = { [this.field]: addDays(this.startOf(item), days) + rest };
    if (isDate(plainText(item["to"]).slice(0, 10))) {
      set["to"] = addDays(this.endOf(item), days);
    }
    this.ask({ item: item.$, set });
    this.keep(itemsOf(this.value).map((one) => (one === item ? { ...one, ...set } : one)));
    this.draw();
    this.tell("move", reference(item));
  }
}

customElements.define("ui-calendar", UiCalendar);
