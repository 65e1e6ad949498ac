/** Ctrl+Z and Ctrl+Shift+Z outside of text fields; Alt+H or a click on `data-history` opens the history. */
import { notify } from "../page/notices";
import type { HistoryRequests, Undone } from "./requests";

/** Name of the frame in which a past moment is shown. */
export const PAST = "ui-past";

export interface HistoryKeys {
  /** Something was saved. */
  saved(): void;
}

export function offerHistory(requests: HistoryRequests): HistoryKeys {
  let refresh: (() => void) | undefined;
  if (window.name === PAST) {
    return { saved: () => undefined };
  }
  const open = (): void => {
    void import("./panel").then(({ togglePanel }) => (refresh = togglePanel(requests)));
  };
  document.addEventListener("keydown", (event) => {
    const action = shortcut(event);
    if (action !== null && !event.defaultPrevented && !isText(event.composedPath()[0])) {
      event.preventDefault();
      void takeBack(requests, action).then(() => refresh?.());
    } else if (event.code === "KeyH" && event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      open();
    }
  });
  document.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("[data-history]")) {
      open();
    }
  });
  return { saved: () => refresh?.() };
}

/** Undo or redo the last step of this page, and say what became of it. */
export async function takeBack(requests: HistoryRequests, action: "undo" | "redo", step?: number): Promise<void> {
  try {
    const { label, kept } = await requests.ask<Undone>(action, step === undefined ? {} : { step });
    const done = action === "undo" ? `Undone: ${label}` : `Done again: ${label.replace(/^Undo /, "")}`;
    notify("info", kept === undefined ? done : `${done}. Changed since, so kept: ${kept.join(", ")}`);
  } catch (error) {
    notify("warning", error instanceof Error ? error.message : String(error));
  }
}

function shortcut({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): "undo" | "redo" | null {
  if (altKey || ctrlKey === metaKey) {
    return null;
  }
  const letter = key.toLowerCase();
  if (letter === "z") {
    return shiftKey ? "redo" : "undo";
  }
  return letter === "y" && !shiftKey ? "redo" : null;
}

const NO_TEXT = new Set(["button", "checkbox", "color", "file", "image", "radio", "range", "reset", "submit"]);

/** Return whether the browser's own undo belongs to this element. */
function isText(target: EventTarget | undefined): boolean {
  if (target instanceof HTMLInputElement) {
    return !NO_TEXT.has(target.type);
  }
  return target instanceof HTMLTextAreaElement || (target instanceof HTMLElement && target.isContentEditable);
}
