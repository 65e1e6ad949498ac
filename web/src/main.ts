/** Starts the session's page. */
import { offerChat } from "./chat/panel_toggle";
import { loadComponents, loadExpected } from "./components/load";
import { openTabGuard, type TabGuard } from "./conserve/tab_guard";
import { PAST } from "./history/keys";
import { askWithFirstClick } from "./page/desktop_notification";
import { markOwnLayout } from "./page/own_layout";
import { offerPointing } from "./page/pointing";
import { whenShown } from "./page/shown";
import { showDuplicate } from "./page/status_pages";
import { pageId, sessionOf } from "./session";
import { start } from "./start";
import { followParent, followSystem } from "./theme/theme";
import { loadTypeface } from "./theme/typeface";
import { webSocket } from "./transport/socket";
import "./page.css";
import "./shell.css";
import "./app.css";

const session = sessionOf(location.pathname, document);

/** Return whether the session exists. Requesting its page also renews the cookie after a restart of the server. */
async function probe(): Promise<boolean> {
  const answer = await fetch(location.pathname, { headers: { accept: "text/html" }, credentials: "same-origin" });
  return answer.status !== 404;
}

function watchTabs(guard: TabGuard): void {
  guard.register();
  const title = document.title;
  guard.onDuplicate(() => {
    document.title = `● ${title}`;
    window.addEventListener("focus", () => (document.title = title), { once: true });
  });
}

/** Start the app, and once it has been shown what can wait. In conserve mode other tabs must find this one at once. */
function openHere(guard: TabGuard | null): void {
  const container = document.querySelector(".app-container") ?? document.body;
  const root = document.querySelector("[ui-app]") ?? container.appendChild(document.createElement("div"));
  root.setAttribute("ui-app", "");
  root.toggleAttribute("inert", window.name === PAST);
  markOwnLayout(root);
  loadTypeface((load) => whenShown(root, load));
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  if (guard === null) {
    whenShown(root, () => watchTabs(openTabGuard(session.number)));
  } else {
    watchTabs(guard);
    askWithFirstClick();
  }
  if (window.parent === window) {
    offerChat((poll) => whenShown(root, poll)); // the person's own page, which frames this one, has a chat already
  } else {
    followParent();
    offerPointing();
  }
  start({ root, dial: webSocket(`${scheme}://${location.host}/ws/${session.address}?page=${pageId()}`), probe, define: loadComponents, addressed: true });
  loadExpected(document.head.querySelectorAll("link[data-element]"));
}

async function boot(): Promise<void> {
  followSystem();
  const conserve = new URLSearchParams(location.search).get("conserve") === "true";
  if (!conserve) {
    openHere(null);
    return;
  }
  const guard = openTabGuard(session.number);
  if (await guard.elsewhere()) {
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
