/** A browser that the agent hands over: asks the person, then shows it and takes their mouse and keyboard to it. */
import { button, make } from "../../nlui/dom";
import { type Fetch, readJson, sendJson } from "../client";
import { pauseAfter } from "../questions";
import { keyMessage, mouseMessage, textMessage, wheelMessage } from "./input";
import "./hand_over.css";

export interface HandOver {
  /** The request of the agent, above the views; hidden while there is none. */
  readonly element: HTMLElement;
  stop(): void;
}

interface Offered {
  readonly reason: string;
  readonly target: string;
  readonly driven: boolean;
}

type Message =
  | { readonly type: "frame"; readonly data: string; readonly width: number; readonly height: number }
  | { readonly type: "state"; readonly url: string; readonly dialog: { readonly kind: string; readonly message: string } | null };

/** Follow what the agent hands over; `credential` is sent in the first frame of the connection. */
export function handOver(fetch: Fetch, credential: () => string): HandOver {
  const reason = make("strong");
  const begin = button("Take over", () => open(), "ask-primary");
  const element = make("div.wheel-offer", { role: "alert" }, make("span", {}, "Your agent asks you to take over its browser: ", reason), begin, button("Not now", () => void end("decline"), "ask-quiet"));
  element.hidden = true;
  const state = { over: false };
  let offered: Offered | null = null;
  let screen: Screen | null = null;

  async function end(action: "return" | "decline"): Promise<void> {
    await sendJson(fetch, "/hand-over", { action });
  }

  function open(): void {
    if (offered !== null && screen === null) {
      screen = driving(offered.reason, credential(), () => void end("return"), () => {
        screen = null;
        draw();
      });
      draw();
    }
  }

  function draw(): void {
    element.hidden = offered === null || screen !== null || offered.driven;
    reason.textContent = offered?.reason ?? "";
  }

  async function follow(): Promise<void> {
    let version = -1;
    for (let failures = 0; !state.over; ) {
      try {
        const now = await readJson<{ readonly version: number; readonly hand_over: Offered | null }>(fetch, `/hand-over?after=${version}`);
        failures = 0;
        version = now.version;
        offered = now.hand_over;
        draw();
      } catch {
        failures += 1;
        await new Promise((resolve) => setTimeout(resolve, pauseAfter(failures)));
      }
    }
  }

  void follow();
  return {
    element,
    stop() {
      state.over = true;
      screen?.close();
    },
  };
}

interface Screen {
  close(): void;
}

function driving(reason: string, token: string, giveBack: () => void, closed: () => void): Screen {
  const picture = make("img.wheel-picture", { alt: "The agent's browser", tabindex: "0", role: "application", "aria-label": "The agent's browser. F6 leaves it.", draggable: "false" });
  const address = make("span.wheel-address");
  const problem = make("p.wheel-problem", { role: "status" }, "Connecting…");
  const back = button("Give back to agent", giveBack, "wheel-back");
  const field = make("input.wheel-field", { type: "password", autocomplete: "off", "aria-label": "Text for the focused field of the browser", placeholder: "Type or paste for the focused field" });
  const send = make("button", { type: "submit" }, "Insert");
  const form = make("form.wheel-text", {}, field, send);
  const dialog = make("div.wheel-dialog", { role: "alertdialog", "aria-label": "The page asks" });
  dialog.hidden = true;
  const layer = make(
    "section.wheel",
    { role: "dialog", "aria-modal": "true", "aria-label": "The agent's browser" },
    make("div.wheel-head", {}, make("strong", {}, reason), address, back),
    make("p.wheel-note", {}, "Your agent sees nothing until you give it back: no pictures, keys, requests or cookies."),
    problem,
    make("div.wheel-stage", {}, picture, dialog),
    form,
  );
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/hand-over`);
  const size = { width: 1, height: 1 };
  const post = (message: object): void => {
    if (socket.readyState === WebSocket.OPEN) {
      socket.send(JSON.stringify(message));
    }
  };

  function show(message: Message): void {
    if (message.type === "frame") {
      problem.hidden = true;
      Object.assign(size, { width: message.width, height: message.height });
      picture.src = `data:image/jpeg;base64,${message.data}`;
    } else {
      address.textContent = message.url;
      dialog.hidden = message.dialog === null;
      const answer = (accept: boolean) => (): void => post({ type: "dialog", accept });
      dialog.replaceChildren(message.dialog?.message ?? "", button("OK", answer(true)), button("Cancel", answer(false)));
    }
  }

  socket.addEventListener("open", () => post({ token }));
  socket.addEventListener("message", (event) => show(JSON.parse(String(event.data)) as Message));
  socket.addEventListener("close", ({ reason: why }) => (why ? ((problem.hidden = false), (problem.textContent = why), setTimeout(close, 3000)) : close()));

  function close(): void {
    socket.close();
    if (layer.isConnected) {
      layer.remove();
      closed();
    }
  }

  const spot = (event: MouseEvent): { x: number; y: number } => {
    const box = picture.getBoundingClientRect();
    return { x: ((event.clientX - box.left) * size.width) / box.width, y: ((event.clientY - box.top) * size.height) / box.height };
  };
  for (const type of ["mousedown", "mouseup", "mousemove"] as const) {
    picture.addEventListener(type, (event) => {
      event.preventDefault();
      if (type === "mousedown") {
        picture.focus();
      }
      post(mouseMessage(event, spot(event)));
    });
  }
  picture.addEventListener("contextmenu", (event) => event.preventDefault());
  picture.addEventListener("wheel", (event) => {
    event.preventDefault();
    post(wheelMessage(event, spot(event)));
  }, { passive: false });
  for (const type of ["keydown", "keyup"] as const) {
    picture.addEventListener(type, (event) => {
      event.stopPropagation();
      // Without a key that leaves it, a person without a mouse could never give the browser back.
      if (event.key === "F6") {
        back.focus();
      } else if (!((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "v")) {
        event.preventDefault();
        post(keyMessage(event));
      }
    });
  }
  picture.addEventListener("paste", (event) => post(textMessage(event.clipboardData?.getData("text") ?? "")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    post(textMessage(field.value));
    field.value = "";
  });
  document.body.append(layer);
  picture.focus();
  return { close };
}
