/** A modal dialog with a form. */
import { button, make } from "./dom";
import "./items.css";
import "./dialog.css";

export interface Form {
  readonly dialog: HTMLDialogElement;
  /** Show a status message, as an error unless `good`. */
  say(words: string, good?: boolean): void;
  /** Show why a request failed. */
  readonly fail: (error: unknown) => void;
  close(): void;
}

/** Open a dialog; `parts` are its fields, `acts` the buttons besides the one that leaves it. */
export function form(title: string, parts: readonly Node[], acts: readonly HTMLButtonElement[], submit: () => void, leave = "Cancel"): Form {
  const status = make("p.nlui-note", { role: "status" });
  const dialog = make("dialog.nlui-dialog.nlui", { "aria-label": title });
  const cancel = button(leave, () => dialog.close());
  const inside = make("form", {}, make("h2", {}, title), ...parts, status, make("div.nlui-row.nlui-end", {}, cancel, ...acts));
  inside.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  dialog.append(inside);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  const say = (words: string, good = false): void => {
    status.textContent = words;
    status.className = `nlui-note ${good ? "nlui-done" : "nlui-problem"}`;
  };
  return {
    dialog,
    say,
    fail: (error) => say(error instanceof Error ? error.message : String(error)),
    close: () => dialog.close(),
  };
}

export function field(name: string, input: HTMLElement, hint = ""): HTMLElement {
  return make("label.nlui-label", {}, make("span", {}, name), input, hint ? make("small.nlui-dim", {}, hint) : null);
}

export function submitButton(words: string): HTMLButtonElement {
  const made = make("button.nlui-primary", { type: "submit" }, words);
  return made;
}
