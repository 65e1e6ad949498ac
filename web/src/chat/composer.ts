/** The message field: Enter sends, Shift+Enter starts a new line, ArrowUp in the empty field restores the last text. */
import { element } from "./inline";
import { promptMenu, type Prompts } from "./prompts";

export interface Composer {
  readonly element: HTMLElement;
  readonly focus: () => void;
  text(): string;
  /** Replace what is written. */
  set(content: string): void;
  /** Put back a text that could not be sent, unless the field has another one. */
  restore(content: string): void;
}

/** Files that go with a message. */
export interface Files {
  readonly button: HTMLElement;
  readonly list: HTMLElement;
  count(): number;
  /** Whether all of them can be sent. */
  isReady(): boolean;
}

export interface ComposerOptions {
  /** Makes the files, given the function to call when they have changed. */
  readonly files?: (changed: () => void) => Files;
  /** The texts that `/` offers. */
  readonly prompts?: Prompts;
  /** Called when the person has changed the text or the files. */
  readonly changed?: () => void;
}

const MOST_PX = 220;

/** Make a field as high as its text; one that is not displayed has no height to measure and keeps that of its rows. */
function fit(field: HTMLTextAreaElement): void {
  field.style.height = "";
  if (field.scrollHeight > 0) {
    const borders = field.offsetHeight - field.clientHeight;
    field.style.height = `${Math.min(field.scrollHeight + borders, MOST_PX)}px`;
  }
}

/** Call `changed` when the field gets another width, also when it is displayed after having been hidden. */
function onWidth(field: HTMLElement, changed: () => void): void {
  let width = 0;
  new ResizeObserver(([entry]) => {
    const now = entry?.contentRect.width ?? 0;
    if (now !== width) {
      width = now;
      changed();
    }
  }).observe(field);
}

export function composer(send: (content: string) => void, { files, prompts, changed: told }: ComposerOptions = {}): Composer {
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

  let attached: Files | null = null;
  const canSend = (): boolean => (field.value.trim() !== "" || (attached?.count() ?? 0) > 0) && (attached?.isReady() ?? true);
  const draw = (): void => {
    button.disabled = !canSend();
    fit(field);
  };
  const menu = prompts
    ? promptMenu(prompts, field, (text) => {
        field.value = text;
        changed();
        field.setSelectionRange(text.length, text.length);
      })
    : null;
  const changed = (): void => {
    draw();
    menu?.update();
    told?.();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (canSend()) {
      const content = field.value.trim();
      last = content;
      field.value = "";
      draw();
      send(content);
    }
    field.focus();
  });
  field.addEventListener("input", changed);
  onWidth(field, () => fit(field));
  field.addEventListener("keydown", (event) => {
    if (menu?.key(event)) {
      return;
    }
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    } else if (event.key === "ArrowUp" && !field.value && last) {
      event.preventDefault();
      field.value = last;
      changed();
    }
  });
  if (menu) {
    form.append(menu.element);
    field.placeholder = "Write, or / for prompts";
  }
  if (files) {
    attached = files(changed);
    form.prepend(attached.list, attached.button);
  }
  return {
    element: form,
    focus: () => field.focus(),
    text: () => field.value,
    set(content) {
      field.value = content;
      draw();
    },
    restore(content) {
      field.value = field.value || content;
      draw();
    },
  };
}
