/** `ui-image`: a picture with regions, which are drawn, moved and sized by pointer and keyboard. */
import { make, plainText, styleSheet, UiElement } from "../base";
import { type Item, itemsOf, reference, textFields } from "../items";
import { type Box, boxBetween, moved, resized } from "./boxes";
import css from "./image.css?inline";

const sheet = styleSheet(css);
const SMALLEST = 1;

class UiImage extends UiElement {
  private readonly picture = make("img", { alt: "" });
  private readonly area = make("div.area", { role: "group" });
  private readonly draft = make("div.draft", { hidden: true });
  private readonly live = make("div.quiet", { "aria-live": "polite" });
  private readonly state = make("div.state", { role: "status", hidden: true });
  private readonly add = make("button.add", { type: "button" }, "Add region");
  private pending = 0;

  constructor() {
    super(sheet);
    this.root.append(make("div.frame", {}, this.picture, this.area), this.state, this.add, this.live);
    this.area.addEventListener("pointerdown", (event) => this.onPointer(event));
    this.picture.addEventListener("error", () => {
      this.state.hidden = false;
      this.state.textContent = "The picture cannot be loaded.";
    });
    this.picture.addEventListener("load", () => (this.state.hidden = true));
    this.add.addEventListener("click", () => this.create({ x: 40, y: 40, w: 20, h: 20 }));
  }

  protected override received(value: unknown): void {
    if (typeof value === "object" && value !== null && "$added" in value) {
      this.pending = Number(value.$added);
      return;
    }
    super.received(value);
    if (this.pending > 0) {
      const id = this.pending;
      this.pending = 0;
      this.tell("draw", { obj: id });
      queueMicrotask(() => queueMicrotask(() => this.region(id)?.focus()));
    }
  }

  private get editable(): boolean {
    return this.hasAttribute("edit");
  }

  protected render(): void {
    const source = this.option("src");
    if (this.picture.getAttribute("src") !== source) {
      this.picture.src = source;
    }
    this.picture.alt = this.option("label", "Picture");
    this.area.setAttribute("aria-label", `Regions of ${this.option("label", "the picture")}`);
    this.area.classList.toggle("edit", this.editable);
    this.add.hidden = !this.editable;
    const focused = (this.root.activeElement as HTMLElement | null)?.dataset["id"];
    this.area.replaceChildren(...itemsOf(this.value).map((item) => this.drawn(item)), this.draft);
    this.region(Number(focused ?? 0))?.focus();
  }

  private region(id: number): HTMLElement | null {
    return this.area.querySelector<HTMLElement>(`[data-id="${id}"]`);
  }

  private drawn(item: Item): HTMLElement {
    const box = boxOf(item);
    const label = textFields(item, this.option("text")) || "Region";
    const element = make("button.region", { type: "button", "data-id": String(item.$), "aria-label": `${label}, at ${Math.round(box.x)} %, ${Math.round(box.y)} %`, "aria-keyshortcuts": this.editable ? "ArrowLeft ArrowRight ArrowUp ArrowDown Delete" : false }, make("span.name", {}, label), this.editable && make("span.grip", { "aria-hidden": "true" }));
    position(element, box);
    const color = plainText(item["color"]);
    if (color !== "") {
      element.style.setProperty("--region", color);
    }
    element.addEventListener("click", () => this.tell("select", reference(item)));
    element.addEventListener("keydown", (event) => this.onKey(event, item));
    return element;
  }

  private create(box: Box): void {
    this.ask({ add: { ...box, label: this.option("new", "New region") } });
    this.live.textContent = "Region added";
  }

  private change(item: Item, box: Box): void {
    this.ask({ item: item.$, set: box });
    this.keep(itemsOf(this.value).map((one) => (one.$ === item.$ ? { ...one, ...box } : one)));
    this.draw();
    this.tell("change", reference(item));
  }

  private onKey(event: KeyboardEvent, item: Item): void {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!this.editable || (step === undefined && event.key !== "Delete")) {
      return;
    }
    event.preventDefault();
    if (step === undefined) {
      this.ask({ item: item.$, remove: true });
      this.live.textContent = "Region removed";
    } else {
      const [dx = 0, dy = 0] = step;
      this.change(item, event.shiftKey ? resized(boxOf(item), dx, dy, SMALLEST) : moved(boxOf(item), dx, dy));
    }
  }

  private pointOf({ clientX, clientY }: MouseEvent): { x: number; y: number } {
    const { left, top, width, height } = this.area.getBoundingClientRect();
    return { x: ((clientX - left) / width) * 100, y: ((clientY - top) / height) * 100 };
  }

  /** Draw a new region on the picture, or move or size the one below the pointer. */
  private onPointer(event: PointerEvent): void {
    if (!this.editable || event.button !== 0) {
      return;
    }
    const from = this.pointOf(event);
    const target = event.target as HTMLElement;
    const id = target.closest<HTMLElement>("[data-id]")?.dataset["id"];
    const item = itemsOf(this.value).find((one) => String(one.$) === id);
    const sizing = target.matches(".grip");
    let box: Box | null = null;
    const follow = (now: PointerEvent): void => {
      const at = this.pointOf(now);
      const [dx, dy] = [at.x - from.x, at.y - from.y];
      if (box === null && Math.hypot(dx, dy) < 0.7) {
        return;
      }
      box = item === undefined ? boxBetween(from, at) : sizing ? resized(boxOf(item), dx, dy, SMALLEST) : moved(boxOf(item), dx, dy);
      const shown = item === undefined ? this.draft : this.region(item.$ ?? 0);
      this.draft.hidden = item !== undefined;
      if (shown !== null) {
        position(shown, box);
      }
    };
    const stop = (): void => {
      removeEventListener("pointermove", follow);
      removeEventListener("pointerup", stop);
      removeEventListener("pointercancel", stop);
      this.draft.hidden = true;
      if (box !== null && item !== undefined) {
        this.change(item, box);
      } else if (box !== null && box.w > SMALLEST && box.h > SMALLEST) {
        this.create(box);
      }
    };
    addEventListener("pointermove", follow);
    addEventListener("pointerup", stop);
    addEventListener("pointercancel", stop);
    if (item === undefined) {
      event.preventDefault();
    }
  }
}

function boxOf(item: Item): Box {
  const number = (name: string): number => (typeof item[name] === "number" ? item[name] : 0);
  return { x: number("x"), y: number("y"), w: number("w"), h: number("h") };
}

function position(element: HTMLElement, { x, y, w, h }: Box): void {
  Object.assign(element.style, { left: `${x}%`, top: `${y}%`, width: `${w}%`, height: `${h}%` });
}

customElements.define("ui-image", UiImage);
