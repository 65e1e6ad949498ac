/** The chat as a panel at the side of the shell; Escape closes it and gives the focus back. */
import { activity } from "./activity";
import { chat, type Chat } from "./chat";
import { element } from "./inline";
import { server } from "./server";
import "./panel.css";

let closeOpen: (() => void) | null = null;

/** Open the panel, or close it. */
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
  const page = element("a", "Open as a page");
  page.setAttribute("href", "/chat");
  page.setAttribute("target", "_blank");
  page.setAttribute("rel", "noopener");
  const head = element("header", element("strong", "Chat"), page, shut);
  panel.append(head, body);
  document.body.append(panel);
  document.documentElement.classList.add("chat-open");
  const inside: Chat = chat(body, server("default"), (changed, problem) => activity("default", changed, problem));

  closeOpen = (): void => {
    closeOpen = null;
    inside.stop();
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
