/** `ui-calendar`: entries of a Lua list on the days of a month or the hours of a week or day; moving one sets its date. */
import { iconButton, make, plainText, styleSheet, textsOf, UiElement } from "../base";
import { addDays, addMonths, daysBetween, firstWeekday, isDate, named, namedRange, today, weekday } from "../dates";
import { ICON } from "../icons";
import { type Item, itemsOf, reference, textFields } from "../items";
import { Month } from "../month";
import monthCss from "../month.css?inline";
import css from "./calendar.css?inline";
import { clock, type Entry, inOrder, isOn, read, shifted } from "./entries";
import { Hours } from "./hours";

const sheets = [monthCss, css].map(styleSheet);
const VIEWS = ["month", "week", "day"] as const;
type View = (typeof VIEWS)[number];
const MINUTE = 60_000;

class UiCalendar extends UiElement {
  private readonly month: Month = new Month({
    choose: (date) => this.pick(date),
    cell: (date) => this.cell(date),
    selected: (date) => (date === this.month.day ? "only" : ""),
    moved: (date, before) => this.turned(date, this.view, before),
  });
  private readonly hours = new Hours({
    choose: (date, hour) => this.pick(date, `T${clock(hour * 60)}`),
    open: (date) => this.show(date, this.views().includes("day") ? "day" : this.view),
    show: (date) => this.show(date),
    move: (entry, days, minutes) => this.move(entry, days, minutes),
    button: (entry) => this.button(entry),
  });
  private readonly frame = make("div", { role: "group" });
  private readonly agenda = make("section.agenda");
  private readonly chooser = make("div.views", { role: "group", "aria-label": "View" });
  private readonly back = iconButton("", ICON.left, () => this.step(-1));
  private readonly on = iconButton("", ICON.right, () => this.step(1));
  private view: View = "month";
  /** What the attributes asked for last; what the person chose since then counts. */
  private readonly asked = { day: "", view: "" };
  private timer = 0;

  constructor() {
    super(...sheets);
    const now = make("button.now", { type: "button" }, "Today");
    now.addEventListener("click", () => this.show(today()));
    this.frame.append(make("div.head", {}, now, this.back, this.on, this.month.title, this.chooser), this.month.element, this.hours.element, this.agenda);
    this.root.append(this.frame);
    this.month.element.addEventListener("dragstart", (event) => {
      const id = (event.target as HTMLElement).dataset["id"];
      event.dataTransfer?.setData("text/plain", id ?? "");
    });
    this.month.element.addEventListener("dragover", (event) => event.preventDefault());
    this.month.element.addEventListener("drop", (event) => this.drop(event));
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.timer = window.setInterval(() => this.hours.drawNow(), MINUTE);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.clearInterval(this.timer);
  }

  private get field(): string {
    return this.option("by", "date");
  }

  private views(): View[] {
    const asked = textsOf(this.getAttribute("views"));
    const known = VIEWS.filter((view) => asked.includes(view));
    return known.length > 0 ? known : [...VIEWS];
  }

  private entries(): Entry[] {
    return itemsOf(this.value).map((item) => read(item, this.field)).filter((entry) => entry !== null);
  }

  private entriesOn(date: string): Entry[] {
    return this.entries().filter((entry) => isOn(entry, date)).sort(inOrder);
  }

  private nameOf(item: Item): string {
    return textFields(item, this.option("text"));
  }

  /** An entry as a cell of the month says it, without its end. */
  private textOf({ item, time }: Entry): string {
    return `${time.slice(0, 5)} ${this.nameOf(item)}`.trim();
  }

  /** The days in view. */
  private days(day: string, view: View): string[] {
    const first = view === "day" ? day : view === "month" ? `${day.slice(0, 7)}-01` : addDays(day, -((weekday(day) - firstWeekday(undefined) + 7) % 7));
    const length = view === "day" ? 1 : view === "week" ? 7 : daysBetween(first, addMonths(first, 1));
    return Array.from({ length }, (_, at) => addDays(first, at));
  }

  protected render(): void {
    this.obey();
    this.month.element.hidden = this.agenda.hidden = this.view !== "month";
    this.hours.element.hidden = this.view === "month";
    this.frame.setAttribute("aria-label", this.option("label", "Calendar"));
    if (this.view === "month") {
      this.month.draw();
      this.drawAgenda();
    } else {
      this.drawHours();
    }
    this.drawHead();
  }

  /** Show what the attributes ask for, if they ask for something new. */
  private obey(): void {
    const [day, view] = [this.option("day"), this.option("view")];
    if (isDate(day) && day !== this.asked.day) {
      this.asked.day = day;
      this.month.day = day;
    }
    const known = VIEWS.find((one) => one === view);
    if (known !== undefined && known !== this.asked.view) {
      this.asked.view = known;
      this.view = known;
    }
    const [first = "month"] = this.views();
    this.view = this.views().includes(this.view) ? this.view : first;
  }

  private drawHours(): void {
    const days = this.days(this.month.day, this.view);
    this.hours.draw(days, this.month.day, this.entries());
    this.hours.scrollTo(this.month.day, Number(this.option("hour", "7")) || 0);
    const whole: Intl.DateTimeFormatOptions = { weekday: "long", day: "numeric", month: "long", year: "numeric" };
    this.month.title.textContent = this.view === "day" ? named(this.month.day, whole) : namedRange(days[0] ?? "", days.at(-1) ?? "");
  }

  private drawHead(): void {
    const { view } = this;
    [[this.back, "Previous"] as const, [this.on, "Next"] as const].forEach(([button, word]) => {
      button.title = `${word} ${view}`;
      button.setAttribute("aria-label", `${word} ${view}`);
    });
    const views = this.views();
    this.chooser.hidden = views.length < 2;
    if (this.chooser.childElementCount !== views.length) {
      this.chooser.replaceChildren(...views.map((one) => this.viewButton(one)));
    }
    this.chooser.querySelectorAll<HTMLElement>("button").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset["view"] === view)));
  }

  private viewButton(view: View): HTMLElement {
    const button = make("button", { type: "button", "data-view": view }, view.charAt(0).toUpperCase() + view.slice(1));
    button.addEventListener("click", () => this.show(this.month.day, view));
    return button;
  }

  private cell(date: string): Node[] {
    const entries = this.entriesOn(date);
    const content = entries.slice(0, 3).map((entry) => {
      const text = this.textOf(entry);
      return coloured(make("span.entry", { draggable: "true", "data-id": String(entry.item.$), title: text }, text), entry);
    });
    const rest = entries.slice(3).map((entry) => this.textOf(entry)).join(", ");
    return rest === "" ? content : [...content, make("span.more", { "aria-hidden": "true" }, `+${entries.length - 3}`), make("span.quiet", {}, rest)];
  }

  /** The entries of the chosen day, as buttons that move by Alt and arrows. */
  private drawAgenda(): void {
    const date = this.month.day;
    const focused = (this.root.activeElement as HTMLElement | null)?.dataset["entry"];
    const rows = this.entriesOn(date).map((entry) => {
      const button = this.button(entry);
      button.addEventListener("keydown", (event) => this.onKey(event, entry));
      return make("li", {}, button);
    });
    const empty = make("p", {}, this.option("empty", "Nothing on this day."));
    this.agenda.replaceChildren(make("h2", {}, named(date, { weekday: "long", day: "numeric", month: "long" })), rows.length > 0 ? make("ul", {}, ...rows) : empty);
    this.agenda.querySelector<HTMLElement>(`[data-entry="${focused ?? ""}"]`)?.focus();
  }

  private button(entry: Entry): HTMLButtonElement {
    const { time } = entry;
    const name = this.nameOf(entry.item);
    const text = `${time} ${name}`.trim();
    const button = make("button.entry", { type: "button", "data-entry": String(entry.item.$), title: text, "aria-keyshortcuts": "Alt+ArrowLeft Alt+ArrowRight Alt+ArrowUp Alt+ArrowDown" });
    button.append(...(time === "" ? [] : [make("span.time", {}, time), " "]), make("span.what", {}, name));
    button.addEventListener("click", () => this.tell("select", reference(entry.item)));
    return coloured(button, entry);
  }

  private step(by: number): void {
    const { day } = this.month;
    this.show(this.view === "month" ? addMonths(day, by) : addDays(day, this.view === "week" ? by * 7 : by));
  }

  private show(date: string, view: View = this.view): void {
    const before = { day: this.month.day, view: this.view };
    this.month.day = date;
    this.view = view;
    this.render();
    this.turned(date, before.view, before.day);
  }

  /** Tell what is shown now, if that is something else than before. */
  private turned(date: string, viewBefore: View, before: string): void {
    if (this.view === "month") {
      this.drawAgenda();
    }
    if (date.slice(0, 7) !== before.slice(0, 7)) {
      this.tell("month", date.slice(0, 7));
    }
    if (this.view !== viewBefore) {
      this.tell("view", this.view);
    }
    const [first = date] = this.days(date, this.view);
    if (first !== this.days(before, viewBefore)[0]) {
      this.tell("turn", first);
    }
  }

  private pick(date: string, time = ""): void {
    this.month.day = date;
    this.render();
    (time === "" ? this.month : this.hours).focus();
    this.tell("day", date + time);
  }

  private onKey(event: KeyboardEvent, entry: Entry): void {
    const days = event.altKey ? { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[event.key] : undefined;
    if (days !== undefined) {
      event.preventDefault();
      this.move(entry, days, 0);
    }
  }

  private drop(event: DragEvent): void {
    const id = event.dataTransfer?.getData("text/plain");
    const date = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-date]")?.dataset["date"] : undefined;
    const entry = this.entries().find(({ item }) => String(item.$) === id);
    if (entry !== undefined && date !== undefined) {
      event.preventDefault();
      this.change(entry, daysBetween(entry.day, date), 0);
    }
  }

  /** Move by keyboard or in a week: the day in view goes along. */
  private move(entry: Entry, days: number, minutes: number): void {
    this.month.day = addDays(this.view === "month" ? this.month.day : entry.day, days);
    this.change(entry, days, minutes);
  }

  private change(entry: Entry, days: number, minutes: number): void {
    const { item } = entry;
    const set = shifted(entry, this.field, days, minutes);
    if (Object.entries(set).some(([name, text]) => text !== plainText(item[name]))) {
      this.ask({ item: item.$, set });
      this.keep(itemsOf(this.value).map((one) => (one === item ? { ...one, ...set } : one)));
      this.draw();
      this.tell("move", reference(item));
    }
  }
}

function coloured<T extends HTMLElement>(element: T, { item }: Entry): T {
  const color = plainText(item["color"]);
  if (color !== "") {
    element.style.setProperty("--entry", color);
  }
  return element;
}

customElements.define("ui-calendar", UiCalendar);
