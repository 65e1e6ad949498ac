/** The message field: Enter sends, Shift+Enter starts a new line, ArrowUp in the empty field restores the last text. */
import { element } from "./inline";

export interface Composer {
  readonly element: HTMLElement;
  readonly focus: () => void;
  /** Put back a text that could not be sent, unless the field has another one. */
  restore(content: string): void;
}

export function composer(send: (content: string) => void): Composer {
  let last = "";
  const form = element("form");
  form.className = "chat-composer";
  const field = element("textarea");
  field.rows = 1;
  field.placeholder = "Write a message…";
  field.setAttribute("aria-label", "Message");
  field.enterKeyHint = "send";
  const button = element("button");
  button.type = "submit";
  button.className = "chat-send";
  button.textContent = "Send";
  button.disabled = true;
  form.append(field, button);

  const changed = (): void => {
    button.disabled = !field.value.trim();
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, 220)}px`;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const content = field.value.trim();
    if (content) {
      last = content;
      field.value = "";
      changed();
      send(content);
    }
    field.focus();
  });
  field.addEventListener("input", changed);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    } else if (event.key === "ArrowUp" && !field.value && last) {
      event.preventDefault();
      field.value = last;
      changed();
    }
  });
  return {
    element: form,
    focus: () => field.focus(),
    restore(content) {
      field.value = field.value || content;
      changed();
    },
  };
}
