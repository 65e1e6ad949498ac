/**
 * Opens the chat panel by Alt+C or a click on an element with `data-chat`. The panel's code is loaded on first use;
 * until then a poll finds out whether there are unread answers.
 */
const POLL_MS = 10_000;

interface UnreadPage {
  readonly last_id: string | null;
  readonly head_id: string | null;
  readonly messages: readonly unknown[];
}

/** `whenShown` calls its argument once the page has nothing more urgent to load. */
export function offerChat(whenShown: (act: () => void) => void): void {
  const badge = unreadBadge(whenShown);
  const open = (): void => {
    void import("./panel").then(({ togglePanel }) => togglePanel(badge.pause, badge.resume));
  };
  document.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("[data-chat]")) {
      open();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.code === "KeyC" && event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      open();
    }
  });
}

/** Set a class on `<html>` while there are unread messages of an agent. */
function unreadBadge(whenShown: (act: () => void) => void): { readonly pause: () => void; readonly resume: () => void } {
  let after: string | null = null;
  let paused = false;
  const poll = async (): Promise<void> => {
    if (paused || document.hidden) {
      return;
    }
    const answer = await fetch(`/chat/messages?limit=1&authors=assistant&after=${after ?? "9".repeat(18)}`);
    if (!answer.ok) {
      return;
    }
    const page = (await answer.json()) as UnreadPage;
    if (after === null) {
      after = page.head_id ?? "0";
    } else if (page.messages.length > 0) {
      document.documentElement.classList.add("chat-unread");
    }
  };
  const pollQuietly = (): void => void poll().catch(() => undefined);
  setInterval(pollQuietly, POLL_MS);
  whenShown(pollQuietly);
  return {
    pause() {
      paused = true;
      document.documentElement.classList.remove("chat-unread");
    },
    resume() {
      paused = false;
      after = null;
      pollQuietly();
    },
  };
}
