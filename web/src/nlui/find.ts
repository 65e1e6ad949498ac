/** Search in the whole conversation. Replaces the browser's search, which sees only the items in the document. */
import { button, make } from "./dom";
import { type Item, textOf } from "./state";

export interface Find {
  readonly element: HTMLElement;
}

export function find(items: () => readonly Item[], reveal: (index: number) => void, leave: () => void): Find {
  const field = make("input.nlui-field", { type: "search", "aria-label": "Find in this conversation", placeholder: "Find…" });
  const count = make("span.nlui-dim", { role: "status" });
  let at = -1;
  const go = (by: number): void => {
    const wanted = field.value.toLowerCase();
    const found = wanted ? items().flatMap((item, index) => (textOf(item).toLowerCase().includes(wanted) ? [index] : [])) : [];
    at = found.length ? (at + by + found.length) % found.length : -1;
    count.textContent = wanted ? (found.length ? `${at + 1} of ${found.length}` : "not found") : "";
    const index = found[at];
    if (index !== undefined) {
      reveal(index);
      field.focus();
    }
  };
  const close = (): void => {
    element.hidden = true;
    leave();
  };
  const element = make("search.nlui-find", {}, field, count, button("Previous", () => go(-1), "nlui-small"), button("Next", () => go(1), "nlui-small"), button("Close", close, "nlui-small"));
  element.hidden = true;
  field.addEventListener("input", () => {
    at = -1;
    go(1);
  });
  element.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target === field) {
      event.preventDefault();
      go(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      close();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() === "f" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && items().length > 0) {
      event.preventDefault();
      element.hidden = false;
      field.focus();
      field.select();
    }
  });
  return { element };
}
