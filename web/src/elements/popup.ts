/** What opens below a field: a list or a calendar in the top layer, so that no card cuts it off. */

/** Put a popover below an element, inside the window. */
export function place(popup: HTMLElement, below: Element): void {
  const box = below.getBoundingClientRect();
  const { width, height } = popup.getBoundingClientRect();
  popup.style.left = `${Math.max(8, Math.min(box.left, innerWidth - width - 8))}px`;
  popup.style.top = `${box.bottom + height + 8 > innerHeight ? Math.max(8, box.top - height - 4) : box.bottom + 4}px`;
}

/** A popover that follows its field when the page scrolls, and closes when the focus leaves the element. */
export class Popup {
  private readonly follow = (): void => place(this.element, this.below);

  constructor(
    readonly element: HTMLElement,
    private readonly below: Element,
    private readonly changed: (open: boolean) => void,
  ) {
    element.popover = "manual";
    element.classList.add("popup");
  }

  get isOpen(): boolean {
    return this.element.matches(":popover-open");
  }

  open(): void {
    if (this.isOpen || !this.element.isConnected) {
      return;
    }
    this.element.showPopover();
    this.element.style.minWidth = `${this.below.getBoundingClientRect().width}px`;
    this.follow();
    addEventListener("scroll", this.follow, true);
    addEventListener("resize", this.follow);
    this.changed(true);
  }

  close(): void {
    removeEventListener("scroll", this.follow, true);
    removeEventListener("resize", this.follow);
    if (this.isOpen) {
      this.element.hidePopover();
      this.changed(false);
    }
  }

  /** The content has another size. */
  moved(): void {
    if (this.isOpen) {
      this.follow();
    }
  }
}
