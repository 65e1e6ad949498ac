/**
 * Holds frames back while a control is being pressed. Pressing commits the field that had the focus, and the answer may
 * move the control away under the pointer: a message that vanishes above a button would make the click miss it.
 */
const PRESSED = "button, a, summary, label, input:not([type=range]), [ui-action], [ui-event-click], [role=button], sl-button, sl-icon-button";
/** A person who holds the button down still sees what happens. */
const LONGEST_MS = 600;

export class Press {
  private readonly waiting: string[] = [];
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(
    private readonly apply: (frame: string) => void,
    target: EventTarget = document,
  ) {
    target.addEventListener("pointerdown", (event) => this.begin(event), { capture: true });
    // A click follows its pointerup in the same turn of the event loop.
    target.addEventListener("pointerup", () => this.endSoon(), { capture: true });
    target.addEventListener("pointercancel", () => this.endSoon(), { capture: true });
  }

  receive(frame: string): void {
    if (this.timer === null) {
      this.apply(frame);
    } else {
      this.waiting.push(frame);
    }
  }

  /** Forget what the connection before has sent. */
  reset(): void {
    this.waiting.length = 0;
  }

  private begin(event: Event): void {
    const pressed = event.composedPath()[0];
    if (pressed instanceof Element && pressed.closest(PRESSED) !== null) {
      this.stop();
      this.timer = setTimeout(() => this.end(), LONGEST_MS);
    }
  }

  private endSoon(): void {
    if (this.timer !== null) {
      this.stop();
      this.timer = setTimeout(() => this.end());
    }
  }

  private end(): void {
    this.stop();
    this.waiting.splice(0).forEach((frame) => this.apply(frame));
  }

  private stop(): void {
    if (this.timer !== null) {
      clearTimeout(this.timer);
      this.timer = null;
    }
  }
}
