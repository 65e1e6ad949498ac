/** Creates elements in one expression. */

type Child = Node | string | null;

/** `make("p.note", { title: "x" }, "text")`: tag and classes, attributes, children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  what: K | `${K}.${string}`,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag as K);
  element.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

export function button(text: string, act: () => void, style = ""): HTMLButtonElement {
  const made = make("button", { type: "button" }, text);
  made.className = style;
  made.addEventListener("click", act);
  return made;
}
