/** Small pieces of page that are not an app's: made by hand, so that they work before any app does. */

/** Make an element with a class and content. */
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

/** Make a button. */
export function button(text: string, act: () => void, className = "ui-button"): HTMLButtonElement {
  const element = make("button", className, text);
  element.type = "button";
  element.addEventListener("click", act);
  return element;
}
