/** Answers take a click only once the person had time to see what it would answer. */

/** A card that appears under the pointer must not take a click that was meant for something else. */
export const ARMED_AFTER_MS = 500;
const POLL_MS = 200;

const waiting = new WeakMap<HTMLElement, number>();

/** Let the buttons of a card take clicks after a moment. */
export function arm(element: HTMLElement): void {
  const all = [...element.querySelectorAll("button")];
  all.forEach((one) => (one.disabled = true));
  clearTimeout(waiting.get(element));
  waiting.set(element, window.setTimeout(() => all.forEach((one) => (one.disabled = false)), ARMED_AFTER_MS));
}

/**
 * Arm again whoever comes back to the page: what lay over it may have closed between two clicks of a double click.
 * Returns what ends this.
 */
export function armOnReturn(root: HTMLElement, cards: () => Iterable<HTMLElement>): () => void {
  let away = !document.hasFocus();
  const returned = (): void => {
    if (away) {
      away = false;
      [...cards()].forEach(arm);
    }
  };
  // A page has the focus also while a frame inside of it does, so that using the app is not being away.
  const checkFocus = (): void => {
    away ||= !document.hasFocus();
  };
  const clicked = (event: Event): void => {
    if (away && event.target instanceof Element && event.target.closest("button")) {
      event.preventDefault();
      event.stopImmediatePropagation();
      returned();
    }
  };
  const timer = window.setInterval(checkFocus, POLL_MS);
  window.addEventListener("blur", checkFocus);
  window.addEventListener("focus", returned);
  root.addEventListener("click", clicked, true);
  return () => {
    clearInterval(timer);
    window.removeEventListener("blur", checkFocus);
    window.removeEventListener("focus", returned);
    root.removeEventListener("click", clicked, true);
  };
}
