/** A dialog with a form in it: Escape and Cancel close it, the focus goes back where it was. */
import { button, make } from "./dom";

export interface Form {
  readonly dialog: HTMLDialogElement;
  /** Say how it stands; `good` chooses the colour. */
  say(words: string, good?: boolean): void;
  close(): void;
}

/** Open a dialog; `parts` are its fields, `acts` its buttons beside Cancel. */
export function form(title: string, parts: readonly Node[], acts: readonly HTMLButtonElement[], submit: () => void): Form {
  const status = make("p.nlui-formstatus", { role: "status" });
  const dialog = make("dialog.nlui-dialog", { "aria-label": title });
  const cancel = button("Cancel", () => dialog.close());
  const inside = make("form", {}, make("h2", {}, title), ...parts, status, make("div.nlui-row.nlui-end", {}, cancel, ...acts));
  inside.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  dialog.append(inside);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return {
    dialog,
    say(words, good = false) {
      status.textContent = words;
      status.className = good ? "nlui-formstatus nlui-done" : "nlui-formstatus nlui-problem";
    },
    close: () => dialog.close(),
  };
}

/** A field with its name above. */
export function field(name: string, input: HTMLElement, hint = ""): HTMLElement {
  return make("label.nlui-label", {}, make("span", {}, name), input, hint ? make("small.nlui-dim", {}, hint) : null);
}

/** The button that sends the form. */
export function submitButton(words: string): HTMLButtonElement {
  const made = make("button.nlui-primary", { type: "submit" }, words);
  return made;
}
