/** The chat page of `nlui`: a conversation over your own APIs and servers. */
import "../chat/page.css";
import "../chat/chat.css";
import "./items.css";
import "./nlui.css";
import { composer } from "../chat/composer";
import { codeFromAddress, reasonOf } from "../person/client";
import { entry, waiting } from "../person/entry";
import { api, person, say } from "./api";
import { button, make } from "./dom";
import { find } from "./find";
import { follow, type Frame } from "./follow";
import { log } from "./log";
import { side } from "./side";
import { type Item, Timeline } from "./state";

const RUNNING = new Set(["running", "awaiting_approval"]);
const WORDS: Readonly<Record<string, string>> = { running: "Working…", awaiting_approval: "Waits for your answer" };
const timeline = new Timeline();
let open = "";
let typed = "";
let run = "";
let away = false;
let leave: () => void = () => undefined;

const status = make("p.nlui-statusbar", { role: "status" });
const spoken = make("div.nlui-spoken", { "aria-live": "polite" });
const stop = button("Stop", () => void act(api.stop(open)), "nlui-small nlui-danger");
const empty = make(
  "div.nlui-empty",
  {},
  make("h2", {}, "Ask for something"),
  make("p", {}, "The assistant uses the tools of your APIs and servers. Calls that change something ask you first."),
);
const view = log(
  {
    edit: (item, text) => act(api.edit(open, indexOf(item), text)),
    again: (item) => void act(api.regenerate(open, indexOf(item))),
    decide: (_, reply) => void act(api.answer(open, reply)),
    review: null,
  },
  empty,
);
const write = composer((text) => {
  const unsent = (error: unknown): never => {
    write.giveBack(text);
    throw error;
  };
  void act(talk().then((id) => say(id, text)).then(() => panel.refresh(open), unsent));
});
const panel = side(go, () => void begin().catch(problem), problem);
const finding = find(() => timeline.shown(), view.reveal, write.focus);
const menu = button("☰", () => toggleMenu(), "nlui-small nlui-burger");
menu.setAttribute("aria-label", "Conversations and tools");
menu.setAttribute("aria-expanded", "false");
const title = make("h1", {}, "Chat with your APIs");
const main = make("main.nlui-main", {}, make("header.nlui-bar", {}, menu, title, status, stop), finding.element, view.element, write.element, spoken);

function toggleMenu(shown = !document.body.classList.contains("nlui-menu")): void {
  document.body.classList.toggle("nlui-menu", shown);
  menu.setAttribute("aria-expanded", String(shown));
}

function problem(error: unknown): void {
  tell(reasonOf(error), true);
}

function tell(words: string, bad = false): void {
  status.textContent = words;
  status.classList.toggle("nlui-error", bad);
}

/** Do something; what goes wrong is told. */
async function act(work: Promise<unknown>): Promise<void> {
  tell(WORDS[run] ?? "");
  await work.catch(problem);
}

function indexOf(item: Item): number {
  const kinds = ["user_message", "assistant_markdown", "tool"];
  return timeline.shown().filter((one) => kinds.includes(one.kind)).findIndex((one) => one.id === item.id);
}

function took(frame: Frame): void {
  switch (frame.type) {
    case "ui_state_snapshot":
      timeline.reset(frame.state.items, frame.seq);
      run = frame.run;
      typed = "";
      panel.spent(frame.usage?.input_tokens ?? 0, frame.usage?.output_tokens ?? 0);
      break;
    case "ui_state_delta":
      if (!timeline.apply(frame.seq, frame.ops)) {
        go(open);
        return;
      }
      for (const op of frame.ops) {
        if (op.op === "append") {
          typed = op.item.kind === "user_message" ? typed : "";
          announce(op.item);
        }
      }
      break;
    case "run_status":
      run = frame.run;
      if (!RUNNING.has(run)) {
        void panel.refresh(open).catch(problem); // the first answer gave the conversation its title
      }
      break;
    case "assistant_delta":
      typed += frame.text;
      break;
    case "usage":
      panel.spent(frame.input_tokens, frame.output_tokens);
      return;
    case "error":
      tell(frame.message, true);
      return;
    default:
      return;
  }
  draw();
}

let queued = false;
function draw(): void {
  if (queued) {
    return;
  }
  queued = true;
  requestAnimationFrame(() => {
    queued = false;
    const working = RUNNING.has(run);
    typed = working ? typed : "";
    view.show(timeline.shown());
    view.typing(typed);
    stop.hidden = !working;
    if (!status.classList.contains("nlui-error")) {
      tell(WORDS[run] ?? "");
    }
  });
}

function announce(item: Item): void {
  const words = { assistant_markdown: item.md, approval: `Waits for your answer: may I call ${item.tool ?? ""}?`, notice: item.text }[item.kind as string];
  if (words) {
    spoken.textContent = words;
  }
}

function go(id: string): void {
  leave();
  open = id;
  typed = "";
  run = "";
  history.replaceState(null, "", `#${id}`);
  toggleMenu(false);
  timeline.reset([], 0);
  draw();
  panel.spent(0, 0);
  const connected = (yes: boolean): void => {
    if (away && yes) {
      tell("");
      void panel.refresh(id).catch(problem);
    } else if (!yes) {
      tell("The server cannot be reached. Trying again…", true);
    }
    away = !yes;
  };
  leave = follow({ id, token: person.credential(), seen: () => timeline.seq, frame: took, connected });
  void act(panel.refresh(id));
  write.focus();
}

let making: Promise<void> | null = null;
function begin(): Promise<void> {
  making ??= api.create().then(({ id }) => go(id)).finally(() => {
    making = null;
  });
  return making;
}

/** The open conversation; who writes while it is being made waits for it. */
async function talk(): Promise<string> {
  if (making || !open) {
    await begin();
  }
  return open;
}

main.addEventListener("click", (event) => {
  if (event.target !== menu) {
    toggleMenu(false);
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !document.querySelector("dialog")) {
    toggleMenu(false);
  }
});
stop.hidden = true;

/** Show the page of somebody who is signed in. */
function enter(): void {
  document.body.className = "nlui";
  document.body.replaceChildren(panel.element, main);
  void api.model().then((found) => {
    if (found.provider === "scripted" && empty.childElementCount === 2) {
      empty.append(make("p", {}, "This is a demo over a small coffee shop: try “show the orders” or “ship order 1”."));
    }
  }, () => undefined);
  if (location.hash.length > 1) {
    go(location.hash.slice(1));
  } else {
    void begin().catch(problem);
  }
}

/** Ask for a code; what was being done ends here. */
function ask(why: string): void {
  leave();
  open = "";
  const screen = entry((code) => person.enter(code).then(enter), why);
  document.body.className = "";
  document.body.replaceChildren(screen.element);
  screen.focus();
}

/** Sign in with the code of a link, if there is one; also one that is opened in this very tab. */
async function arrive(): Promise<void> {
  const code = codeFromAddress();
  let why = "";
  if (code) {
    document.body.className = "";
    document.body.replaceChildren(waiting("Signing you in…"));
    await person.enter(code).catch((error: unknown) => (why = reasonOf(error)));
  }
  if (person.credential()) {
    enter();
  } else {
    ask(why);
  }
}

person.onLeft(ask);
addEventListener("hashchange", () => void arrive());
void arrive();
