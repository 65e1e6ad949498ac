/** Protects decisions from accidental clicks: buttons take clicks only after they have been visible for a moment. */

/** Long enough that a card which appears under the pointer does not take a click meant for something else. */
export const ARMED_AFTER_MS = 500;
const POLL_MS = 200;

const waiting = new WeakMap<HTMLElement, number>();

/** Disable the buttons of a card and enable them again after `ARMED_AFTER_MS`. */
export function arm(element: HTMLElement): void {
  const all = [...element.querySelectorAll("button")];
  all.forEach((one) => (one.disabled = true));
  clearTimeout(waiting.get(element));
  waiting.set(element, window.setTimeout(() => all.forEach((one) => (one.disabled = false)), ARMED_AFTER_MS));
}

/**
 * Arm all cards again when the user returns to the page: a window that covered it may have closed between the two
 * clicks of a double click. Return a function that stops this.
 */
export function armOnReturn(root: HTMLElement, cards: () => Iterable<HTMLElement>): () => void {
  let away = !document.hasFocus();
  const returned = (): void => {
    if (away) {
      away = false;
      [...cards()].forEach(arm);
    }
  };
  // hasFocus() is also true while a frame inside the page has the focus, so using the app does not count as leaving.
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
