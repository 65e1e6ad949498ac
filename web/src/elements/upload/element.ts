/** `ui-upload`: sends files to the app, in parts over the page's own connection; the other side is `element_files.lua`. */
import { make, styleSheet } from "../base";
import { FieldElement } from "../field";
import { bytesOf, refusal, shownBytes } from "./limits";
import css from "./upload.css?inline";

const sheet = styleSheet(css);
const PART = 256 * 1024;
const DEFAULT_SIZE = 25 * 1024 * 1024;

interface Stored {
  readonly id: number;
  readonly name: string;
  readonly size: number;
}

interface Sending {
  readonly serial: number;
  readonly file: File;
  sent: number;
  problem: string;
}

interface Answer {
  readonly serial: number;
  readonly got?: number;
  readonly done?: number;
  readonly problem?: string;
}

class UiUpload extends FieldElement {
  protected readonly control = make("button.choose", { type: "button" });
  private readonly input = make("input", { type: "file", tabindex: -1, "aria-hidden": "true", hidden: true });
  private readonly list = make("ul.files", { "aria-label": "Files" });
  private readonly live = make("div.quiet", { "aria-live": "polite" });
  private stored: readonly Stored[] = [];
  private readonly queue: Sending[] = [];
  private serial = 0;

  constructor() {
    super(sheet);
    this.box.append(this.control, this.input);
    this.box.after(this.list, this.live);
    this.control.addEventListener("click", () => this.input.click());
    this.input.addEventListener("change", () => {
      this.add(this.input.files);
      this.input.value = "";
    });
    for (const kind of ["dragenter", "dragover", "dragleave", "drop"] as const) {
      this.box.addEventListener(kind, (event) => this.onDrag(event));
    }
    this.addEventListener("paste", (event) => this.add(event.clipboardData?.files ?? null));
  }

  override get value(): unknown {
    return this.stored.map(({ name }) => name);
  }

  override set value(next: unknown) {
    this.received(next);
  }

  protected override received(value: unknown): void {
    if (typeof value !== "object" || value === null) {
      return;
    }
    if ("upload" in value) {
      this.answered(value.upload as Answer);
    } else if ("files" in value) {
      this.stored = value.files as Stored[];
      this.draw();
    }
  }

  private get many(): boolean {
    return this.hasAttribute("multiple");
  }

  private get limits(): Parameters<typeof refusal>[2] {
    const files = Number(this.option("max-files", this.many ? "100" : "1")) || 1;
    return { accept: this.option("accept"), maxSize: bytesOf(this.option("max-size")) ?? DEFAULT_SIZE, maxFiles: files };
  }

  protected renderControl(): void {
    const { accept, maxSize } = this.limits;
    this.input.multiple = this.many;
    this.input.accept = accept;
    const what = this.many ? "Choose files" : "Choose a file";
    this.control.replaceChildren(make("b", {}, what), make("span", {}, " or drop here"), make("small", {}, `${accept === "" ? "" : `${accept}, `}up to ${shownBytes(maxSize)}`));
    this.control.setAttribute("aria-labelledby", `${this.control.id}-label ${this.control.id}`);
    this.control.removeAttribute("aria-required");
    this.list.replaceChildren(...this.stored.map((file) => this.row(file)), ...this.queue.map((one) => this.progress(one)));
    this.list.hidden = this.list.childElementCount === 0;
  }

  private row(file: Stored): HTMLElement {
    const remove = make("button", { type: "button", "aria-label": `Remove ${file.name}`, disabled: this.disabled }, "×");
    remove.addEventListener("click", () => {
      this.ask({ remove: file.id });
      this.live.textContent = `${file.name} removed`;
      this.control.focus();
    });
    return make("li", {}, make("span.name", {}, file.name), make("small", {}, shownBytes(file.size)), remove);
  }

  private progress(one: Sending): HTMLElement {
    const stop = make("button", { type: "button", "aria-label": one.problem === "" ? `Cancel ${one.file.name}` : `Dismiss ${one.file.name}` }, "×");
    stop.addEventListener("click", () => {
      if (one.problem === "") {
        this.ask({ cancel: true, serial: one.serial });
      }
      this.forget(one);
    });
    const bar = make("progress", { max: Math.max(1, one.file.size), value: one.sent, "aria-label": `Sending ${one.file.name}` });
    const state = one.problem === "" ? bar : make("span.refused", {}, one.problem);
    return make("li", {}, make("span.name", {}, one.file.name), state, stop);
  }

  private forget(one: Sending): void {
    this.queue.splice(this.queue.indexOf(one), 1);
    this.draw();
  }

  private onDrag(event: DragEvent): void {
    if (this.disabled || event.dataTransfer?.types.includes("Files") !== true) {
      return;
    }
    event.preventDefault();
    this.box.classList.toggle("over", event.type === "dragenter" || event.type === "dragover");
    if (event.type === "drop") {
      this.add(event.dataTransfer.files);
    }
  }

  private add(files: FileList | null): void {
    let present = this.stored.length + this.queue.filter(({ problem }) => problem === "").length;
    for (const file of files ?? []) {
      const problem = refusal(file, present, this.limits);
      this.serial += 1;
      const one: Sending = { serial: this.serial, file, sent: 0, problem };
      this.queue.push(one);
      if (problem === "") {
        present += 1;
        this.ask({ begin: file.name, type: file.type, size: file.size, serial: one.serial });
      } else {
        this.live.textContent = `${file.name}: ${problem}`;
      }
    }
    this.draw();
  }

  private answered({ serial, got, done, problem }: Answer): void {
    const one = this.queue.find((sending) => sending.serial === serial);
    if (one === undefined) {
      return;
    }
    if (problem !== undefined) {
      one.problem = problem;
    } else if (done !== undefined) {
      this.forget(one);
      this.live.textContent = `${one.file.name} is there`;
      this.tell("upload", { obj: done });
    } else {
      one.sent = got ?? one.sent;
      void this.sendPart(one);
    }
    this.draw();
  }

  private async sendPart(one: Sending): Promise<void> {
    const end = Math.min(one.file.size, one.sent + PART);
    try {
      const bytes = new Uint8Array(await one.file.slice(one.sent, end).arrayBuffer());
      this.ask({ part: base64(bytes), last: end === one.file.size, serial: one.serial });
    } catch (error) {
      one.problem = `It cannot be read: ${String(error)}`;
      this.ask({ cancel: true, serial: one.serial });
      this.draw();
    }
  }
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(text);
}

customElements.define("ui-upload", UiUpload);
