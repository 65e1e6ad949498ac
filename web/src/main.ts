/** Starts the session's page. */
import { offerChat } from "./chat/panel_toggle";
import { loadComponents } from "./components/load";
import { openTabGuard, type TabGuard } from "./conserve/tab_guard";
import { showDuplicate } from "./page/status_pages";
import { sessionOf } from "./session";
import { start } from "./start";
import { followParent, followSystem } from "./theme/theme";
import { webSocket } from "./transport/socket";
import "./page.css";
import "./shell.css";

const session = sessionOf(location.pathname, document);

/** Return whether the session exists. Requesting its page also renews the cookie after a restart of the server. */
async function probe(): Promise<boolean> {
  const answer = await fetch(location.pathname, { headers: { accept: "text/html" }, credentials: "same-origin" });
  return answer.status !== 404;
}

function openHere(guard: TabGuard): void {
  guard.register();
  const title = document.title;
  guard.onDuplicate(() => {
    document.title = `● ${title}`;
    window.addEventListener("focus", () => (document.title = title), { once: true });
  });
  const container = document.querySelector(".app-container") ?? document.body;
  const root = document.querySelector("[ui-app]") ?? container.appendChild(document.createElement("div"));
  root.setAttribute("ui-app", "");
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  if (window.parent === window) {
    offerChat(); // the person's own page, which frames this one, has a chat already
  } else {
    followParent();
  }
  start({ root, dial: webSocket(`${scheme}://${location.host}/ws/${session.address}`), probe, define: loadComponents });
}

async function boot(): Promise<void> {
  followSystem();
  const guard = openTabGuard(session.number);
  const conserve = new URLSearchParams(location.search).get("conserve") === "true";
  if (conserve && (await guard.elsewhere())) {
    guard.announceDuplicate();
    showDuplicate({
      session: session.number,
      openAnyway() {
        document.querySelector(".app-container")?.replaceChildren();
        openHere(guard);
      },
    });
  } else {
    openHere(guard);
  }
}

void boot();
