/** Plain elements for our own parts of the page, which must work before any component is loaded. */

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...content);
  return element;
}

export function button(text: string, act: () => void, className = "ui-button"): HTMLButtonElement {
  const element = make("button", className, text);
  element.type = "button";
  element.addEventListener("click", act);
  return element;
}
