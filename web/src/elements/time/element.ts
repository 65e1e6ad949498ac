/** `ui-time`: a time of day, typed or chosen from a list. */
import { Choice, type Option } from "../choice";
import { parseTime } from "../dates";
import { ICON } from "../icons";

const DAY_MINUTES = 24 * 60;

class UiTime extends Choice {
  constructor() {
    super(ICON.clock);
  }

  protected override get many(): boolean {
    return false;
  }

  protected override options(): Option[] {
    const step = Math.max(1, Number(this.option("step", "30")) || 30);
    const all = Array.from({ length: Math.ceil(DAY_MINUTES / step) }, (_, at) => at * step);
    const times = all.map((minutes) => `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`);
    return times.filter((time) => this.outside(time) === "").map((value) => ({ value, label: value }));
  }

  protected override parse(text: string): string | null {
    return parseTime(text);
  }

  protected override refusal(text: string): string {
    return `“${text}” is no time; write it like 14:30.`;
  }

  protected override wrong(value: unknown): string {
    const time = this.chosen()[0];
    return time === undefined ? super.wrong(value) : this.outside(time);
  }

  private outside(time: string): string {
    const [min, max] = [this.option("min"), this.option("max")];
    return min !== "" && time < min ? `Not before ${min}.` : max !== "" && time > max ? `Not after ${max}.` : "";
  }
}

customElements.define("ui-time", UiTime);
