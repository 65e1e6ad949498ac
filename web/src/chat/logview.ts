/** Draws the log: one bubble per message, kept in place when earlier ones come in, at the end while the reader is there. */
import type { ActivityByMessage } from "./activity";
import { stageOf, type Echo, type Log, type Message, type Stage } from "./log";
import { markdown } from "./markdown";

const NEAR_END_PX = 80;
const MARKS: Record<Stage, [string, string]> = {
  sent: ["✓", "Sent"],
  notified: ["✓", "Agent notified"],
  read: ["✓✓", "Read by the agent"],
};

export interface LogView {
  readonly element: HTMLElement;
  show(log: Log): void;
  /** Show what the agent did between messages. */
  readonly showActivity: (activity: ActivityByMessage) => void;
  /** Go to the end and stay there. */
  stick(): void;
  /** The first page is here: an empty log is really empty. */
  ready(): void;
}

export interface Actions {
  readonly earlier: () => void;
  retry(echo: Echo): void;
}

export function logView(actions: Actions): LogView {
  const element = document.createElement("div");
  element.className = "chat-log";
  element.tabIndex = 0;
  element.setAttribute("role", "log");
  element.setAttribute("aria-label", "Conversation");
  const more = document.createElement("button");
  more.className = "chat-earlier";
  more.textContent = "Earlier messages";
  more.hidden = true;
  more.addEventListener("click", actions.earlier);
  const welcome = document.createElement("div");
  welcome.className = "chat-empty";
  welcome.hidden = true;
  welcome.append(line("strong", "No messages yet"), line("span", "What you and your agents say appears here."));
  const list = document.createElement("ol");
  list.className = "chat-messages";
  element.append(more, welcome, list);
  const drawn = new Map<string, HTMLElement>();
  let sticking = true;
  let loading = false;
  let isReady = false;
  let shown: Log | null = null;
  let activity: ActivityByMessage = new Map();

  element.addEventListener("scroll", () => {
    sticking = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX;
    if (element.scrollTop < NEAR_END_PX && !more.hidden && !loading) {
      loading = true;
      actions.earlier();
    }
  });

  function show(log: Log): void {
    const fromEnd = element.scrollHeight - element.scrollTop;
    const grewAbove = shown?.messages[0] !== undefined && log.messages[0]?.id !== shown.messages[0].id;
    shown = log;
    loading = false;
    more.hidden = !log.earlier;
    welcome.hidden = !isReady || log.messages.length + log.echoes.length > 0;
    const spoken = log.messages.flatMap((message) => [bubbleOf(message, log), ...(activity.get(message.id) ?? [])]);
    const wanted = [...(log.earlier ? [] : (activity.get("") ?? [])), ...spoken, ...log.echoes.map(echoBubble)];
    place(wanted);
    if (sticking) {
      element.scrollTop = element.scrollHeight;
    } else if (grewAbove) {
      element.scrollTop = element.scrollHeight - fromEnd;
    }
  }

  function place(wanted: readonly HTMLElement[]): void {
    const keep = new Set(wanted);
    for (const child of [...list.children]) {
      if (!keep.has(child as HTMLElement)) {
        child.remove();
      }
    }
    wanted.forEach((bubble, index) => {
      if (list.children[index] !== bubble) {
        list.insertBefore(bubble, list.children[index] ?? null);
      }
    });
  }

  function bubbleOf(message: Message, log: Log): HTMLElement {
    const known = drawn.get(message.id) ?? bubble(message);
    drawn.set(message.id, known);
    if (message.author === "user") {
      const [mark, label] = MARKS[stageOf(message, log.receipts)];
      const receipt = known.querySelector(".chat-receipt");
      if (receipt && receipt.getAttribute("aria-label") !== label) {
        receipt.textContent = mark;
        receipt.setAttribute("aria-label", label);
        receipt.setAttribute("title", label);
        receipt.setAttribute("data-stage", stageOf(message, log.receipts));
      }
    }
    return known;
  }

  function echoBubble(echo: Echo): HTMLElement {
    const bubble = frame("user", echo.content, "text/markdown");
    bubble.classList.add(echo.failed === null ? "chat-sending" : "chat-failed");
    const foot = line("div", echo.failed ?? "Sending…");
    foot.className = "chat-foot";
    if (echo.failed !== null) {
      const again = document.createElement("button");
      again.textContent = "Send again";
      again.addEventListener("click", () => actions.retry(echo));
      foot.append(" ", again);
    }
    bubble.append(foot);
    return bubble;
  }

  return {
    element,
    show,
    showActivity(next) {
      activity = next;
      if (shown) {
        show(shown);
      }
    },
    stick() {
      sticking = true;
    },
    ready() {
      isReady = true;
      if (shown) {
        show(shown);
      }
    },
  };
}

function bubble(message: Message): HTMLElement {
  const made = frame(message.author, message.content, message.mime);
  made.dataset["id"] = message.id;
  const time = document.createElement("time");
  time.dateTime = message.ts;
  time.textContent = new Date(message.ts).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  time.title = new Date(message.ts).toLocaleString();
  const foot = document.createElement("div");
  foot.className = "chat-foot";
  foot.append(time);
  if (message.author === "user") {
    const receipt = line("span", "");
    receipt.className = "chat-receipt";
    receipt.setAttribute("role", "img");
    foot.append(receipt);
  }
  made.append(foot);
  return made;
}

function frame(author: "user" | "assistant", content: string, mime: string): HTMLElement {
  const made = document.createElement("li");
  made.className = `chat-message chat-${author}`;
  const who = line("span", author === "user" ? "You" : "Agent");
  who.className = "chat-author";
  const body = document.createElement("div");
  body.className = "chat-body";
  if (mime === "text/markdown") {
    body.append(markdown(content));
  } else {
    body.append(line("pre", content));
    body.classList.add("chat-plain");
  }
  made.append(who, body);
  return made;
}

function line(name: string, text: string): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
