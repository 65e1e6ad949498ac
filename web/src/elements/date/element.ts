/** `ui-date`: a date, a range of dates or a date with time, typed as people write it or chosen in a month. */
import { iconButton, listOf, make, plainText, styleSheet } from "../base";
import { isDate, monthFirst, parseDate, parseTime, shownDate, today } from "../dates";
import { FieldElement } from "../field";
import { ICON } from "../icons";
import { Month } from "../month";
import { Popup } from "../popup";
import monthCss from "../month.css?inline";
import css from "./date.css?inline";

const sheets = [styleSheet(monthCss), styleSheet(css)];
const BETWEEN = /\s+(?:to|until|–|-|bis)\s+|\s*[–…]\s*|\.\.+/;

class UiDate extends FieldElement {
  protected readonly control = make("input", { type: "text", autocomplete: "off" });
  private readonly panel = make("div.panel", { role: "dialog", "aria-label": "Choose a date" });
  private readonly clock = make("input.clock", { type: "time", "aria-label": "Time", tabindex: 0 });
  private readonly opener = iconButton("Open calendar", ICON.calendar, () => this.toggle());
  private readonly month = new Month({
    choose: (date) => this.pick(date),
    allowed: (date) => this.outside(date) === "",
    selected: (date) => this.selection(date),
  });
  private readonly popup = new Popup(this.panel, this.box, (open) => this.opener.setAttribute("aria-expanded", String(open)));
  private typing = false;
  /** The first day of a range whose second is still to be chosen. */
  private begun: string | null = null;

  constructor() {
    super(...sheets);
    this.month.element.prepend(this.month.head());
    this.panel.append(this.month.element, this.clock);
    this.box.append(this.control, this.opener);
    this.root.append(this.panel);
    this.opener.setAttribute("aria-haspopup", "dialog");
    this.control.addEventListener("input", () => (this.typing = true));
    this.control.addEventListener("blur", () => this.take());
    this.control.addEventListener("keydown", (event) => this.onKey(event));
    this.panel.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        event.stopPropagation();
        this.close();
      }
    });
    this.clock.addEventListener("change", () => this.setTime(this.clock.value));
    this.whenLeft(() => this.popup.close());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.popup.close();
  }

  private get range(): boolean {
    return this.hasAttribute("range");
  }

  /** The chosen days; one, or two of a range. */
  private days(): string[] {
    return listOf(this.value).map((text) => text.slice(0, 10)).filter(isDate).slice(0, this.range ? 2 : 1);
  }

  private time(): string {
    return this.hasAttribute("time") ? (parseTime(/T(\d\d:\d\d)/.exec(plainText(this.value))?.[1] ?? "") ?? "") : "";
  }

  private outside(date: string): string {
    const [min, max] = [this.option("min").replace("today", today()), this.option("max").replace("today", today())];
    return min !== "" && date < min ? `Not before ${shownDate(min)}.` : max !== "" && date > max ? `Not after ${shownDate(max)}.` : "";
  }

  protected override wrong(value: unknown): string {
    const days = this.days();
    return days.map((date) => this.outside(date)).find((text) => text !== "") ?? super.wrong(days.length === 0 ? null : value);
  }

  private selection(date: string): "" | "start" | "inside" | "end" | "only" {
    const [first, last] = this.begun === null ? this.days() : [this.begun];
    if (first === undefined || last === undefined || first === last) {
      return date === first ? "only" : "";
    }
    return date === first ? "start" : date === last ? "end" : date > first && date < last ? "inside" : "";
  }

  private written(): string {
    const time = this.time();
    return this.days().map(shownDate).join(" – ") + (time === "" ? "" : `, ${time}`);
  }

  protected renderControl(): void {
    this.control.placeholder = this.option("placeholder", this.range ? "from – to" : "YYYY-MM-DD");
    this.opener.disabled = this.disabled;
    this.clock.hidden = !this.hasAttribute("time");
    this.clock.value = this.time();
    if (!this.typing) {
      this.control.value = this.written();
    }
    if (this.popup.isOpen) {
      this.month.draw();
    }
  }

  private pick(date: string): void {
    if (this.range && this.begun === null) {
      this.begun = date;
      this.month.draw();
      this.month.focus();
      return;
    }
    const days = this.begun === null ? [date] : [this.begun, date].sort();
    this.begun = null;
    this.give(days, this.time());
    if (!this.hasAttribute("time")) {
      this.close();
    }
  }

  private give(days: readonly string[], time: string): void {
    this.typing = false;
    this.accept();
    const [first = ""] = days;
    this.commit(this.range ? [...days] : first === "" ? "" : this.hasAttribute("time") ? `${first}T${time || "00:00"}` : first);
  }

  private setTime(text: string): void {
    const [day = today()] = this.days();
    this.give([day], parseTime(text) ?? "");
  }

  /** Take what was typed. */
  private take(): void {
    if (!this.typing) {
      return;
    }
    const text = this.control.value.trim();
    const [dates = "", time = ""] = this.hasAttribute("time") ? text.split(/,\s*|\s+(?=\d{1,2}[:h]\d\d)|T(?=\d)/) : [text];
    const parts = dates === "" ? [] : this.range ? dates.split(BETWEEN) : [dates];
    const days = parts.map((part) => parseDate(part, today(), monthFirst()));
    const found = days.filter((day) => day !== null);
    const clock = time === "" ? this.time() : parseTime(time);
    if (found.length < days.length || clock === null || (this.range && days.length === 1)) {
      this.refuse(this.range ? "Write two dates, like 2026-03-01 – 2026-03-05." : "Write a date, like 2026-03-01.");
    } else if (days.length === 0) {
      this.give([], "");
    } else {
      this.give(found.sort(), clock);
    }
  }

  private toggle(): void {
    if (this.popup.isOpen) {
      this.close();
    } else {
      this.begun = null;
      this.popup.open();
      this.month.show(this.days()[0] ?? today());
      this.popup.moved();
      this.month.focus();
    }
  }

  private close(): void {
    this.popup.close();
    this.control.focus();
  }

  private onKey(event: KeyboardEvent): void {
    if (event.key === "ArrowDown" && (event.altKey || !this.typing)) {
      event.preventDefault();
      this.toggle();
    } else if (event.key === "Enter") {
      this.take();
      this.submit();
    } else if (event.key === "Escape" && this.typing) {
      this.typing = false;
      this.accept();
      this.draw();
    }
  }
}

customElements.define("ui-date", UiDate);
