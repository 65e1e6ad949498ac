/** The pages that stand instead of an app: the session ended, or it is open elsewhere. */
import { make } from "./markup";

/** Show that the session is over and why, with a way to a new one. */
export function showEnded(reason = ""): void {
  const link = make("a", "ui-button ui-button-primary", "Start again");
  link.href = "/";
  replacePage(
    "Session ended",
    make("p", "", "This session has ended and its state is gone. Everything you saved in the project is still there."),
    ...(reason === "" ? [] : [make("p", "ui-plain-hint", reason)]),
    make("p", "ui-plain-actions", link),
  );
  document.title = "Session ended";
}

export interface DuplicatePage {
  readonly session: string;
  readonly openAnyway: () => void;
}

/** Show that the session is open in another tab; nothing else of the app starts. */
export function showDuplicate({ session, openAnyway }: DuplicatePage): void {
  const close = make("a", "ui-button ui-button-primary", "Close this page");
  close.href = "#";
  const hint = make("p", "ui-plain-hint");
  close.addEventListener("click", (event) => {
    event.preventDefault();
    window.close();
    hint.textContent = "The browser keeps this tab open; you may close it yourself.";
  });
  const here = make("a", "ui-button", "Open here anyway");
  here.href = "#";
  here.addEventListener("click", (event) => {
    event.preventDefault();
    openAnyway();
  });
  replacePage(
    "Session is already open",
    make("p", "", `Session ${session} is alive in another tab of this browser, so this page did not start a second copy.`),
    make("p", "ui-plain-actions", close, here),
    hint,
  );
  document.title = "Session is already open";
  announce(`Session ${session} is already active in another tab.`);
}

/** Tell by a desktop notification if allowed; ask when the person clicks if undecided. */
function announce(text: string): void {
  if (!("Notification" in window)) {
    return;
  }
  try {
    if (Notification.permission === "granted") {
      new Notification(text);
    } else if (Notification.permission === "default") {
      const ask = (): void => {
        void Notification.requestPermission().then((answer) => answer === "granted" && new Notification(text));
      };
      document.addEventListener("click", ask, { once: true });
    }
  } catch {
    // Some browsers only allow notifications from a service worker; the page says it anyway.
  }
}

function replacePage(title: string, ...content: Node[]): void {
  const card = make("main", "ui-plain", make("h1", "", title), ...content);
  const container = document.querySelector(".app-container") ?? document.body;
  container.replaceChildren(card);
}
