/** `ui-tags`: a list of texts that is typed one after the other. */
import { Choice } from "../choice";

class UiTags extends Choice {
  protected override get many(): boolean {
    return true;
  }

  protected override get custom(): boolean {
    return !this.hasAttribute("closed");
  }

  protected override wrong(value: unknown): string {
    const most = Number(this.option("max", "0"));
    const count = this.chosen().length;
    return most > 0 && count > most ? `At most ${most}; there are ${count}.` : super.wrong(value);
  }
}

customElements.define("ui-tags", UiTags);
