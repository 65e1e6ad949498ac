/** Pages shown in place of the app: the session has ended, or it is open in another tab. */
import { announce } from "./desktop_notification";
import { make } from "./markup";

/** Show that the session has ended and why, with a link that starts a new one. */
export function showEnded(reason = ""): void {
  const link = make("a", "ui-button ui-button-primary", "Start again");
  link.href = "/";
  replacePage(
    "Session ended",
    make("p", "", "This session has ended and its state is lost. Everything you saved in the project is still there."),
    ...(reason === "" ? [] : [make("p", "ui-plain-hint", reason)]),
    make("p", "ui-plain-actions", link),
  );
  document.title = "Session ended";
}

export interface DuplicatePage {
  readonly session: string;
  readonly openAnyway: () => void;
}

/** Show that the session is open in another tab. */
export function showDuplicate({ session, openAnyway }: DuplicatePage): void {
  const hint = make("p", "ui-plain-hint");
  const close = linkTo("Close this page", "ui-button ui-button-primary", () => {
    window.close();
    hint.textContent = "The browser keeps this tab open. You can close it yourself.";
  });
  const here = linkTo("Open here anyway", "ui-button", openAnyway);
  replacePage(
    "Session is already open",
    make("p", "", `Session ${session} is open in another tab of this browser, so this page did not start it again.`),
    make("p", "ui-plain-actions", close, here),
    hint,
  );
  document.title = "Session is already open";
  announce(`Session ${session} is already active in another tab.`);
}

function linkTo(text: string, className: string, act: () => void): HTMLAnchorElement {
  const link = make("a", className, text);
  link.href = "#";
  link.addEventListener("click", (event) => {
    event.preventDefault();
    act();
  });
  return link;
}

function replacePage(title: string, ...content: Node[]): void {
  const card = make("main", "ui-plain", make("h1", "", title), ...content);
  const container = document.querySelector(".app-container") ?? document.body;
  container.replaceChildren(card);
}
