/** The chat as a page of its own. */
import { chat } from "./chat";
import { server } from "./server";
import "./page.css";

const root = document.querySelector<HTMLElement>("main");
if (root) {
  const conversation = new URLSearchParams(location.search).get("conversation") ?? "default";
  const opened = chat(root, server(conversation));
  opened.focus();
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLElement && /^(?:INPUT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !typing) {
      event.preventDefault();
      opened.focus();
    }
  });
}
