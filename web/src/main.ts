/** Starts the page: asks the gate, connects, and shows what the server sends. */
import { publish } from "./api";
import { loadComponents } from "./components/load";
import { openGate, type Gate } from "./conserve/gate";
import { banner } from "./page/banner";
import { notify } from "./page/notices";
import { showDuplicate, showEnded } from "./page/plain";
import { errorTips } from "./page/tip";
import "./page.css";
import "./shell.css";
import { sessionOf } from "./session";
import { followSystem, setTheme } from "./theme/theme";
import { connect, type Connection } from "./transport/connection";
import { socket } from "./transport/socket";
import { App } from "./view/app";

const session = sessionOf(location.pathname, document);

/** Find out whether the session can be reached: opening its page also renews a cookie that a restart made stale. */
async function probe(): Promise<boolean> {
  const answer = await fetch(location.pathname, { headers: { accept: "text/html" }, credentials: "same-origin" });
  return answer.status !== 404;
}

function start(root: Element): void {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const showStatus = banner(() => connection.retry());
  let ended = false;
  const end = (): void => {
    if (!ended) {
      ended = true;
      connection.end();
      showEnded();
    }
  };
  const app = new App(root, {
    deliver: (frame) => connection.send(frame),
    meet: loadComponents,
    notice: (level, text, code) => (code === "session_ended" ? end() : notify(level, text)),
  });
  const connection: Connection = connect(
    socket(`${scheme}://${location.host}/ws/${session.address}`),
    {
      opened: () => app.opened(),
      frame: (text) => app.receive(text),
      status(status) {
        showStatus(status);
        if (status === "lost") {
          app.lost();
        } else if (status === "ended") {
          end();
        }
      },
    },
    probe,
  );
  publish(app, connection);
  Object.assign(window.uiApp, { setTheme, notify });
  errorTips();
}

function openHere(gate: Gate): void {
  gate.register();
  const title = document.title;
  gate.onDuplicate(() => {
    document.title = `● ${title}`;
    window.addEventListener("focus", () => (document.title = title), { once: true });
  });
  const container = document.querySelector(".app-container") ?? document.body;
  const root = document.querySelector("[ui-app]") ?? container.appendChild(document.createElement("div"));
  root.setAttribute("ui-app", "");
  start(root);
}

async function boot(): Promise<void> {
  followSystem();
  const gate = openGate(session.number);
  const conserve = new URLSearchParams(location.search).get("conserve") === "true";
  if (conserve && (await gate.others()) > 0) {
    gate.announceDuplicate();
    showDuplicate({
      session: session.number,
      openAnyway() {
        document.querySelector(".app-container")?.replaceChildren();
        openHere(gate);
      },
    });
  } else {
    openHere(gate);
  }
}

void boot();
