/** Marks the elements of failed bindings, for style sheets, tooltips and snapshots. */

export function markError(element: Element, code: string, description: string): void {
  element.classList.add("ui-error");
  element.setAttribute("ui-error-code", code);
  element.setAttribute("ui-error-description", description);
}

export function clearErrorMark(element: Element): void {
  element.classList.remove("ui-error");
  element.removeAttribute("ui-error-code");
  element.removeAttribute("ui-error-description");
}
