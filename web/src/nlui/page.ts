/** The chat page of `nlui`: a conversation over your own APIs and servers. */
import "../chat/page.css";
import "../chat/chat.css";
import "./nlui.css";
import { composer } from "../chat/composer";
import { api, follow, type Frame, say } from "./api";
import { button, make } from "./dom";
import { log } from "./log";
import { side } from "./side";
import { type Item, Timeline } from "./state";

const timeline = new Timeline();
let open = "";
let typed = "";
let running = false;
let leave: () => void = () => undefined;

const status = make("p.nlui-statusbar", { role: "status" });
const tokens = make("span.nlui-dim");
const stop = button("Stop", () => void api.stop(open).catch(problem), "nlui-small");
const empty = make(
  "div.nlui-empty",
  {},
  make("h2", {}, "Ask for something"),
  make("p", {}, "The assistant uses the tools on the left. Calls that change something ask you first."),
);
const view = log(
  {
    edit: (item) => void edit(item),
    again: (item) => void act(api.regenerate(open, indexOf(item))),
    decide: (_, reply) => void act(api.answer(open, reply)),
  },
  empty,
);
const write = composer((text) => void act(say(open, text).then(() => panel.refresh(open))));
const panel = side(go, () => void begin(), problem);
const menu = button("☰", () => document.body.classList.toggle("nlui-menu"), "nlui-small nlui-burger");
menu.setAttribute("aria-label", "Conversations and tools");

function problem(error: unknown): void {
  status.textContent = error instanceof Error ? error.message : String(error);
  status.classList.add("nlui-error");
}

async function act(work: Promise<unknown>): Promise<void> {
  status.textContent = "";
  status.classList.remove("nlui-error");
  await work.catch(problem);
}

function indexOf(item: Item): number {
  const kinds = ["user_message", "assistant_markdown", "tool"];
  return timeline.shown().filter((one) => kinds.includes(one.kind)).findIndex((one) => one.id === item.id);
}

async function edit(item: Item): Promise<void> {
  const text = prompt("Say instead:", item.text ?? "");
  if (text?.trim()) {
    await act(api.edit(open, indexOf(item), text));
  }
}

function took(frame: Frame): void {
  switch (frame.type) {
    case "ui_state_snapshot":
      timeline.reset(frame.state.items, frame.seq);
      running = frame.run === "running";
      break;
    case "ui_state_delta":
      if (!timeline.apply(frame.seq, frame.ops)) {
        go(open);
        return;
      }
      for (const op of frame.ops) {
        if (op.op === "append") {
          running = op.item.kind === "user_message" || (running && op.item.kind !== "end_turn");
          typed = op.item.kind === "assistant_markdown" || op.item.kind === "tool" ? "" : typed;
        }
      }
      break;
    case "assistant_delta":
      typed += frame.text;
      break;
    case "usage":
      tokens.textContent = `${frame.input_tokens + frame.output_tokens} tokens`;
      break;
    default:
      return;
  }
  if (!running) {
    typed = "";
  }
  view.show(timeline.shown());
  view.typing(typed);
  stop.hidden = !running;
}

function go(id: string): void {
  leave();
  open = id;
  typed = "";
  history.replaceState(null, "", `#${id}`);
  document.body.classList.remove("nlui-menu");
  timeline.reset([], 0);
  leave = follow(id, () => timeline.seq, took, (yes) => {
    status.textContent = yes ? "" : "The server is away; trying again…";
  });
  void act(panel.refresh(id));
  write.focus();
}

async function begin(): Promise<void> {
  try {
    go((await api.create()).id);
  } catch (error) {
    problem(error);
  }
}

document.body.className = "nlui";
document.body.append(
  panel.element,
  make("main.nlui-main", {}, make("header.nlui-bar", {}, menu, status, tokens, stop), view.element, write.element),
);
stop.hidden = true;
if (location.hash.length > 1) {
  go(location.hash.slice(1));
} else {
  void begin();
}
