/** `ui-toast`: short messages of a Lua list at the edge of the page; one that is over leaves the list. */
import { make, plainText, styleSheet, UiElement } from "../base";
import { type Item, itemsOf, reference, textFields } from "../items";
import css from "./toast.css?inline";

const sheet = styleSheet(css);
const SECONDS = 6;

class UiToast extends UiElement {
  private readonly polite = make("div.stack", { role: "status", "aria-live": "polite", popover: "manual" });
  private readonly shown = new Map<number, { readonly element: HTMLElement; timer: number }>();

  constructor() {
    super(sheet);
    this.root.append(this.polite);
    // Who reads or is about to press is not hurried.
    for (const kind of ["pointerenter", "focusin"] as const) {
      this.polite.addEventListener(kind, () => this.shown.forEach(({ timer }) => clearTimeout(timer)));
    }
    for (const kind of ["pointerleave", "focusout"] as const) {
      this.polite.addEventListener(kind, () => itemsOf(this.value).forEach((item) => this.arm(item)));
    }
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.shown.forEach(({ timer }) => clearTimeout(timer));
  }

  protected render(): void {
    const items = itemsOf(this.value);
    for (const [id, { element, timer }] of this.shown) {
      if (!items.some((item) => item.$ === id)) {
        clearTimeout(timer);
        element.remove();
        this.shown.delete(id);
      }
    }
    for (const item of items) {
      if (item.$ !== undefined && !this.shown.has(item.$)) {
        const element = this.toast(item);
        this.shown.set(item.$, { element, timer: 0 });
        this.polite.append(element);
        this.arm(item);
      }
    }
    if (this.shown.size > 0 && !this.polite.matches(":popover-open")) {
      this.polite.showPopover();
    } else if (this.shown.size === 0 && this.polite.matches(":popover-open")) {
      this.polite.hidePopover();
    }
  }

  private toast(item: Item): HTMLElement {
    const level = plainText(item["level"]) || "info";
    const close = make("button.close", { type: "button", "aria-label": "Dismiss" }, "×");
    close.addEventListener("click", () => this.dismiss(item));
    const label = plainText(item["action"]);
    const act = label === "" ? null : make("button.act", { type: "button" }, label);
    act?.addEventListener("click", () => {
      this.tell("action", reference(item));
      this.dismiss(item);
    });
    return make("div", { class: `toast ${level}`, role: level === "error" ? "alert" : false }, make("span.text", {}, textFields(item, "") || plainText(item["message"])), act, close);
  }

  /** Errors and those with `seconds = 0` stay until they are dismissed. */
  private arm(item: Item): void {
    const known = item.$ === undefined ? undefined : this.shown.get(item.$);
    const seconds = typeof item["seconds"] === "number" ? item["seconds"] : item["level"] === "error" ? 0 : SECONDS;
    if (known !== undefined && seconds > 0) {
      clearTimeout(known.timer);
      known.timer = window.setTimeout(() => this.dismiss(item), seconds * 1000);
    }
  }

  private dismiss(item: Item): void {
    this.ask({ item: item.$, remove: true });
    this.keep(itemsOf(this.value).filter((one) => one.$ !== item.$));
    this.draw();
  }
}

customElements.define("ui-toast", UiToast);
