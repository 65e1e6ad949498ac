/** `ui-log`: lines of a program, with ANSI colours; follows the end only while the reader is there. With `input` a terminal. */
import { download, iconButton, make, styleSheet, UiElement } from "../base";
import { ICON } from "../icons";
import { parseLine, plain, type Style, styleAfter } from "./ansi";
import css from "./log.css?inline";

const sheet = styleSheet(css);
const MOST_LINES = 5000;
const NEAR_END = 40;
/** Lines of a block, the unit by which browsers leave out what is not in view. */
const BLOCK = 100;
/** Lines that are drawn at once; older ones follow in parts, from the newest to the oldest. */
const FIRST_LINES = 2 * BLOCK;
const OLDER_LINES = 10 * BLOCK;

interface Whole {
  readonly skipped: number;
  readonly lines: readonly string[];
}

type Sent = Whole | { readonly drop: number; readonly append: readonly string[] };

class UiLog extends UiElement {
  private lines: string[] = [];
  private skipped = 0;
  /** Lines before the first one that is drawn. */
  private older: readonly string[] = [];
  private olderSoon = 0;
  /** The style after the last line, which the next begins with. */
  private ending: Style = {};
  private follows = true;
  private unread = 0;
  /** What has come since the last frame: many messages are drawn at once. */
  private coming: { drop: number; lines: string[] } | null = null;
  private search = "";
  /** Lines that match the search. */
  private shown = 0;
  private history: string[] = [];
  private at = 0;
  private readonly body = make("div.lines", { role: "log", tabindex: 0 });
  private readonly field = make("input", { type: "search", placeholder: "Filter", "aria-label": "Filter lines" });
  private readonly count = make("span.count", { role: "status" });
  private readonly copy = iconButton("Copy", ICON.copy, () => void this.toClipboard());
  private readonly save = iconButton("Download", ICON.save, () => download(`${this.option("label", "log").toLowerCase().replace(/[^\w-]+/g, "-")}.txt`, "text/plain", this.text()));
  private readonly toEnd = make("button.end", { type: "button", hidden: true });
  private readonly command = make("input.command", { type: "text", autocomplete: "off", spellcheck: "false", "aria-label": "Command" });
  private readonly prompt = make("label.prompt", {}, make("span", { "aria-hidden": "true" }, "❯"), this.command);

  constructor() {
    super(sheet);
    const bar = make("div.bar", {}, this.field, this.count, this.copy, this.save);
    this.root.append(bar, make("div.frame", {}, this.body, this.toEnd), this.prompt);
    this.body.addEventListener("scroll", () => this.scrolled());
    this.toEnd.addEventListener("click", () => this.jump());
    this.field.addEventListener("input", () => {
      this.search = this.field.value.toLowerCase();
      this.redraw();
    });
    this.command.addEventListener("keydown", (event) => this.onCommandKey(event));
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.olderSoon);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.drawOlderSoon();
  }

  protected override received(value: unknown): void {
    if (typeof value !== "object" || value === null) {
      return;
    }
    const sent = value as Sent;
    if ("lines" in sent) {
      this.coming = null;
      this.lines = [...sent.lines];
      this.skipped = sent.skipped;
      this.redraw();
    } else {
      this.collect(sent.drop, sent.append);
    }
  }

  private collect(drop: number, added: readonly string[]): void {
    const waiting = this.coming !== null;
    this.coming ??= { drop: 0, lines: [] };
    this.coming.drop += drop;
    this.coming.lines.push(...added);
    if (document.hidden) {
      this.extend(); // there are no frames
    } else if (!waiting) {
      requestAnimationFrame(() => this.extend());
    }
  }

  private extend(): void {
    if (this.coming === null) {
      return;
    }
    const { drop, lines: added } = this.coming;
    this.coming = null;
    const gone = Math.max(drop, this.lines.length + added.length - MOST_LINES);
    this.lines = [...this.lines, ...added].slice(gone);
    this.skipped += gone;
    if (this.search !== "") {
      this.redraw();
      return;
    }
    this.dropLines(gone);
    this.addLines(added);
    this.unread += this.follows ? 0 : added.length;
    this.draw();
  }

  private addLines(lines: readonly string[]): void {
    let at = 0;
    while (at < lines.length) {
      let block = this.body.lastElementChild;
      if (block === null || block.childElementCount >= BLOCK) {
        block = make("div.block");
        this.body.append(block);
      }
      const part = lines.slice(at, at + BLOCK - block.childElementCount);
      block.append(...part.map((line) => this.row(line)));
      at += part.length;
    }
  }

  private drawOlderSoon(): void {
    clearTimeout(this.olderSoon);
    this.body.setAttribute("aria-busy", String(this.older.length > 0));
    if (this.older.length > 0) {
      this.olderSoon = window.setTimeout(() => this.drawOlder());
    }
  }

  /** Draw the next part of the older lines above the others; where the reader is stays. */
  private drawOlder(): void {
    const { ending, older } = this;
    const from = Math.max(0, older.length - OLDER_LINES);
    this.ending = styleAfter(older.slice(0, from));
    const rows = older.slice(from).map((line) => this.row(line));
    this.ending = ending;
    const blocks = Array.from({ length: Math.ceil(rows.length / BLOCK) }, (_, at) => make("div.block", {}, ...rows.slice(at * BLOCK, (at + 1) * BLOCK)));
    this.body.prepend(...blocks);
    this.older = older.slice(0, from);
    if (this.follows) {
      this.body.scrollTop = this.body.scrollHeight;
    }
    this.drawOlderSoon();
  }

  private dropLines(count: number): void {
    const unseen = Math.min(count, this.older.length);
    this.older = this.older.slice(unseen);
    for (let left = count - unseen; left > 0 && this.body.firstElementChild !== null; left--) {
      const block = this.body.firstElementChild;
      (block.childElementCount > 1 ? block.firstElementChild : block)?.remove();
    }
  }

  private redraw(): void {
    const shown = this.search === "" ? this.lines : this.lines.filter((line) => plain(line).toLowerCase().includes(this.search));
    this.shown = shown.length;
    this.older = shown.slice(0, -FIRST_LINES);
    this.ending = styleAfter(this.older);
    this.body.replaceChildren();
    this.addLines(shown.slice(-FIRST_LINES));
    this.drawOlderSoon();
    this.draw();
  }

  private row(line: string): HTMLElement {
    const { pieces, style } = parseLine(line, this.ending);
    this.ending = style;
    const row = make("div.line");
    for (const piece of pieces) {
      row.append(Object.keys(piece.style).length === 0 ? piece.text : styled(piece.text, piece.style));
    }
    return row;
  }

  protected render(): void {
    const label = this.option("label", "Log");
    this.body.setAttribute("aria-label", label);
    this.body.style.height = this.option("height", "16rem");
    this.body.classList.toggle("wrap", this.hasAttribute("wrap"));
    this.prompt.hidden = !this.hasAttribute("input");
    this.command.setAttribute("aria-label", `Command for ${label}`);
    const rows = this.search === "" ? this.lines.length : this.shown;
    const all = this.skipped + this.lines.length;
    this.count.textContent = this.search === "" ? `${all.toLocaleString()} lines` : `${rows} of ${this.lines.length} lines`;
    this.body.dataset["empty"] = rows > 0 ? "" : this.search === "" ? this.option("empty", "Nothing yet.") : "Nothing matches.";
    if (this.follows) {
      this.body.scrollTop = this.body.scrollHeight;
      this.unread = 0;
    }
    this.toEnd.hidden = this.follows;
    this.toEnd.textContent = this.unread > 0 ? `↓ ${this.unread} new` : "↓ End";
  }

  private scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.body;
    const near = scrollHeight - scrollTop - clientHeight < NEAR_END;
    if (near !== this.follows) {
      this.follows = near;
      this.draw();
    }
  }

  private jump(): void {
    this.follows = true;
    this.body.focus();
    this.draw();
  }

  private text(): string {
    return this.lines.map(plain).join("\n");
  }

  private async toClipboard(): Promise<void> {
    await navigator.clipboard.writeText(this.text());
    this.count.textContent = "Copied";
  }

  private onCommandKey(event: KeyboardEvent): void {
    if (event.key === "Enter" && this.command.value !== "") {
      this.history.push(this.command.value);
      this.at = this.history.length;
      this.follows = true;
      this.tell("send", this.command.value);
      this.command.value = "";
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      this.at = Math.max(0, Math.min(this.history.length, this.at + (event.key === "ArrowUp" ? -1 : 1)));
      this.command.value = this.history[this.at] ?? "";
    } else {
      return;
    }
    event.preventDefault();
  }
}

function styled(text: string, style: Style): HTMLElement {
  const made = make("span", {}, text);
  const [front, back] = style.inverse === true ? [style.background ?? "var(--term-bg-elevated)", style.color ?? "var(--term-text)"] : [style.color, style.background];
  if (front) {
    made.style.color = front;
  }
  if (back) {
    made.style.background = back;
  }
  const kinds = (["bold", "dim", "italic", "underline", "strike"] as const).filter((kind) => style[kind]);
  made.className = kinds.join(" ");
  return made;
}

customElements.define("ui-log", UiLog);
