/** Shows that the server has not saved yet what the person did; that takes milliseconds unless its disk is in trouble. */
import { make } from "./markup";

const PATIENCE_MS = 2000;

export interface Unsaved {
  /** A new connection, on which `frames` have been sent already. */
  reset(frames: number): void;
  sent(): void;
  /** The effects of the first `frames` are saved. */
  saved(frames: number): void;
}

export function unsaved(): Unsaved {
  let sent = 0;
  let saved = 0;
  let confirming = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const mark = make("div", "ui-unsaved", "Saving…");
  mark.setAttribute("role", "status");
  const hide = (): void => {
    clearTimeout(timer);
    timer = undefined;
    mark.remove();
  };
  return {
    reset(frames) {
      sent = frames;
      saved = 0;
      confirming = false;
      hide();
    },
    sent() {
      sent += 1;
      // A server that keeps no journal confirms nothing.
      if (confirming) {
        timer ??= setTimeout(() => document.body.append(mark), PATIENCE_MS);
      }
    },
    saved(frames) {
      confirming = true;
      saved = frames;
      if (saved >= sent) {
        hide();
      }
    },
  };
}
