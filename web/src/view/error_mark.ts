/** Marks the elements of failed bindings, for style sheets, tooltips and snapshots. */

/** Event on an element that has been marked. */
export const ERROR_MARKED = "ui-error-marked";

export function markError(element: Element, code: string, description: string): void {
  element.classList.add("ui-error");
  element.setAttribute("ui-error-code", code);
  element.setAttribute("ui-error-description", description);
  element.dispatchEvent(new CustomEvent(ERROR_MARKED, { bubbles: true }));
}

export function clearErrorMark(element: Element): void {
  element.classList.remove("ui-error");
  element.removeAttribute("ui-error-code");
  element.removeAttribute("ui-error-description");
}
