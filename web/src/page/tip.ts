/** A tooltip with the error of an element, while the element is hovered or focused. */
import { ERROR_MARKED } from "../view/error_mark";
import { make } from "./markup";

export function errorTips(): void {
  const tip = make("div", "ui-error-tip");
  tip.setAttribute("role", "tooltip");
  const show = (event: Event): void => {
    const failed = event.target instanceof Element ? event.target.closest(".ui-error") : null;
    if (failed === null) {
      tip.remove();
      return;
    }
    const code = failed.getAttribute("ui-error-code") ?? "";
    tip.replaceChildren(make("b", "", code), ` ${failed.getAttribute("ui-error-description") ?? ""}`);
    document.body.append(tip);
    const box = failed.getBoundingClientRect();
    tip.style.left = `${Math.max(8, Math.min(box.left, window.innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${box.bottom + 6 + tip.offsetHeight > window.innerHeight ? Math.max(8, box.top - tip.offsetHeight - 6) : box.bottom + 6}px`;
  };
  document.addEventListener(ERROR_MARKED, (event) => {
    // After a click the pointer is there already, and nothing else would tell the person.
    const { target } = event;
    if (target instanceof Element && (target.matches(":hover") || target.contains(document.activeElement))) {
      show(event);
    }
  });
  document.addEventListener("pointerover", show);
  document.addEventListener("focusin", show);
}
