/**
 * The read-only chat panel of the shell. App code runs on this origin, so nothing here may write or decide for the
 * person.
 */
import { fetchAsVisitor, readJson } from "../person/client";
import { type Approval, plain, waitingRow } from "../person/request";
import { followActivity } from "./activity";
import { chat, type Chat } from "./chat";
import { element } from "./inline";
import { loadFrom, server } from "./server";
import "./panel.css";

const POLL_MS = 3000;
let closeOpen: (() => void) | null = null;

/** Open or close the panel. Closing returns the focus to where it was. */
export function togglePanel(opened: () => void, closed: () => void): void {
  if (closeOpen) {
    closeOpen();
    return;
  }
  const before = document.activeElement;
  const panel = element("aside");
  panel.className = "chat-panel";
  panel.setAttribute("aria-label", "Chat with your agent");
  const body = element("div");
  const shut = element("button", "×");
  shut.setAttribute("aria-label", "Close the chat");
  shut.setAttribute("type", "button");
  const waiting = waitingCalls();
  panel.append(element("header", element("strong", "Chat"), shut), waiting.element, body);
  document.body.append(panel);
  document.documentElement.classList.add("chat-open");
  const follow = (changed: Parameters<typeof followActivity>[1]): (() => void) => followActivity({ conversation: "default", credential: () => "", review: null }, changed);
  const inside: Chat = chat(body, server("default", fetchAsVisitor), { follow, footer: personPageLink(), load: loadFrom(fetchAsVisitor) });

  closeOpen = (): void => {
    closeOpen = null;
    inside.stop();
    waiting.stop();
    panel.remove();
    document.documentElement.classList.remove("chat-open");
    closed();
    if (before instanceof HTMLElement) {
      before.focus();
    }
  };
  shut.addEventListener("click", closeOpen);
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      closeOpen?.();
    }
  });
  opened();
  inside.focus();
}

/** The link to the person's own page, opened in a tab that scripts of this page cannot reach. */
function personPageLink(): HTMLElement {
  const link = element("a", "Write or decide");
  link.className = "chat-elsewhere-link";
  link.tabIndex = 0;
  link.setAttribute("target", "_blank");
  link.setAttribute("rel", "noopener");
  const note = element("p", "Write to your agents and answer them on your own page, which apps cannot access.");
  const made = element("footer", link, note);
  made.className = "chat-elsewhere";
  made.focus = () => link.focus();
  readJson<{ readonly url: string | null }>(fetchAsVisitor, "/person-url").then(
    ({ url }) => {
      if (url) {
        link.setAttribute("href", url);
      } else {
        note.textContent = "This server has no page for messages and approvals.";
        link.remove();
      }
    },
    () => (note.textContent = "The address of your page is unknown. Run: ui-mcp open"),
  );
  return made;
}

/** A question as apps may see it: who waits, but not what for. */
interface Waiting {
  readonly id: string;
  readonly kind: "form" | "permission";
  readonly agent: string;
}

function questionRow(row: Waiting): HTMLElement {
  return element("li", `${plain(row.agent)} ${row.kind === "permission" ? "asks for your permission" : "has a question"}`);
}

function waitingCalls(): { readonly element: HTMLElement; readonly stop: () => void } {
  const list = element("ul");
  const title = element("h2");
  const made = element("section", title, list);
  made.className = "chat-waiting";
  made.setAttribute("aria-label", "Waiting for your answer");
  made.hidden = true;
  let shown = "";
  const poll = async (): Promise<void> => {
    const { approvals } = await readJson<{ readonly approvals: readonly Approval[] }>(fetchAsVisitor, "/approvals");
    const { questions } = await readJson<{ readonly questions: readonly Waiting[] }>(fetchAsVisitor, "/inbox");
    const now = [...approvals, ...questions].map((row) => row.id).join();
    if (now !== shown) {
      shown = now;
      const count = approvals.length + questions.length;
      title.textContent = count === 1 ? "1 question is waiting for your answer" : `${count} questions are waiting for your answer`;
      list.replaceChildren(...approvals.map(waitingRow), ...questions.map(questionRow));
      made.hidden = count === 0;
    }
  };
  const pollQuietly = (): void => void poll().catch(() => undefined); // the chat below reports connection problems
  const timer = setInterval(pollQuietly, POLL_MS);
  pollQuietly();
  return { element: made, stop: () => clearInterval(timer) };
}
