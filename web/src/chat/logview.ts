/** Renders the log. Stays at the end while the user is there, and keeps its position when earlier messages arrive. */
import type { ActivityByMessage } from "./activity";
import { fileViews, type LoadFile, parted } from "../nlui/attached";
import { element } from "./inline";
import { isUnheard, stageOf, type Echo, type Log, type Message, type Stage } from "./log";
import { markdown } from "./markdown";

const NEAR_END_PX = 80;
const SUGGESTIONS = ["Show me the TODOs of this project as a board.", "Make a form to plan my week, and show it.", "Chart the size of the files here by type."];
/** How long the button says that it has copied. */
const COPIED_MS = 1_500;
const MARKS: Record<Stage, [string, string]> = {
  sent: ["○", "Waiting for an agent"],
  notified: ["✓", "Agent notified"],
  read: ["✓✓", "Read by the agent"],
};

export interface LogView {
  readonly element: HTMLElement;
  show(log: Log): void;
  /** Show what the agent did between messages, and the message that it is writing. */
  readonly showActivity: (activity: ActivityByMessage, writing?: string) => void;
  /** Scroll to the end with the next change, and stay there. */
  stick(): void;
  /** The first page has arrived, so an empty log means that there are no messages. */
  ready(): void;
}

export interface Actions {
  readonly earlier: () => void;
  /** Puts a suggestion, or a message with its files, where the person writes; absent where they cannot. */
  readonly suggest?: (text: string) => void;
  retry(echo: Echo): void;
  /** Loads a file of a message. */
  readonly load?: LoadFile;
}

export function logView(actions: Actions): LogView {
  const scroller = element("div");
  scroller.className = "chat-log";
  scroller.tabIndex = 0;
  scroller.setAttribute("role", "log");
  scroller.setAttribute("aria-label", "Conversation");
  const more = element("button");
  more.className = "chat-earlier";
  more.textContent = "Earlier messages";
  more.hidden = true;
  more.addEventListener("click", actions.earlier);
  const welcome = welcomeText(actions.suggest);
  const list = element("ol");
  list.className = "chat-messages";
  const unheard = unheardNote();
  scroller.append(more, welcome, list, unheard);
  const drawn = new Map<string, HTMLElement>();
  let sticking = true;
  let loading = false;
  let isReady = false;
  let shown: Log | null = null;
  let activity: ActivityByMessage = new Map();
  let writing = "";

  scroller.addEventListener("scroll", () => {
    sticking = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR_END_PX;
    if (scroller.scrollTop < NEAR_END_PX && !more.hidden && !loading) {
      loading = true;
      actions.earlier();
    }
  });

  // What appears below, and the keyboard of a phone, take height from the log; its end stays in view.
  new ResizeObserver(() => {
    if (sticking) {
      scroller.scrollTop = scroller.scrollHeight;
    }
  }).observe(scroller);

  function show(log: Log): void {
    const fromEnd = scroller.scrollHeight - scroller.scrollTop;
    const grewAbove = shown?.messages[0] !== undefined && log.messages[0]?.id !== shown.messages[0].id;
    shown = log;
    loading = false;
    more.hidden = !log.earlier;
    welcome.hidden = !isReady || log.messages.length + log.echoes.length > 0;
    const spoken = log.messages.flatMap((message) => [bubbleOf(message, log), ...(activity.get(message.id) ?? [])]);
    const wanted = [...(log.earlier ? [] : (activity.get("") ?? [])), ...spoken, ...writingBubble(log), ...log.echoes.map(echoBubble)];
    place(wanted);
    unheard.hidden = !isUnheard(log);
    if (sticking) {
      scroller.scrollTop = scroller.scrollHeight;
    } else if (grewAbove) {
      scroller.scrollTop = scroller.scrollHeight - fromEnd;
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
    const known = drawn.get(message.id) ?? bubble(message, actions);
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

  /** The message that the agent is writing; its last state may arrive after the message itself. */
  function writingBubble(log: Log): HTMLElement[] {
    const newest = log.messages.findLast((message) => message.author === "assistant");
    if (writing === "" || newest?.content.startsWith(writing)) {
      return [];
    }
    const made = frame("assistant", writing, "text/markdown");
    made.classList.add("chat-writing");
    made.setAttribute("aria-hidden", "true"); // the whole message is announced, not its beginnings
    return [made];
  }

  function echoBubble(echo: Echo): HTMLElement {
    const bubble = frame("user", echo.content, "text/markdown", actions.load);
    bubble.classList.add(echo.failed === null ? "chat-sending" : "chat-failed");
    const foot = element("div", echo.failed ?? "Sending…");
    foot.className = "chat-foot";
    if (echo.failed !== null) {
      const again = element("button");
      again.textContent = "Send again";
      again.addEventListener("click", () => actions.retry(echo));
      foot.append(" ", again);
    }
    bubble.append(foot);
    return bubble;
  }

  return {
    element: scroller,
    show,
    showActivity(next, written = "") {
      activity = next;
      writing = written;
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

function welcomeText(suggest?: (text: string) => void): HTMLElement {
  const made = element("div", element("strong", "No messages yet"), element("span", "What you and your agents say appears here."));
  made.className = "chat-empty";
  made.hidden = true;
  for (const text of suggest ? SUGGESTIONS : []) {
    const button = element("button", text);
    button.type = "button";
    button.addEventListener("click", () => suggest?.(text));
    made.append(button);
  }
  return made;
}

/** Shown by the style sheet only after a moment, in which an agent that listens is notified. */
function unheardNote(): HTMLElement {
  const made = element("p", "No agent has received this yet. It waits here for the next one. To connect an agent, run ", element("code", "ui-mcp setup"), " in the project.");
  made.className = "chat-unheard";
  made.hidden = true;
  return made;
}

function bubble(message: Message, { load, suggest }: Actions): HTMLElement {
  const made = frame(message.author, message.content, message.mime, load, message.name);
  made.dataset["id"] = message.id;
  const time = element("time");
  time.dateTime = message.ts;
  time.textContent = new Date(message.ts).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  time.title = new Date(message.ts).toLocaleString();
  const foot = element("div");
  foot.className = "chat-foot";
  foot.append(time);
  if (message.author === "user") {
    const receipt = element("span", "");
    receipt.className = "chat-receipt";
    receipt.setAttribute("role", "img");
    foot.append(...(suggest ? [againButton(message.content, suggest)] : []), receipt);
  } else {
    foot.append(copyButton(message.content));
  }
  made.append(foot);
  return made;
}

/** Brings a message back to where the person writes, to be changed and sent again. */
function againButton(content: string, suggest: (text: string) => void): HTMLElement {
  const button = element("button");
  button.type = "button";
  button.className = "chat-copy chat-again";
  button.title = "Edit and send again";
  button.setAttribute("aria-label", button.title);
  button.addEventListener("click", () => suggest(content));
  return button;
}

/** Copies what the agent wrote, as Markdown. */
function copyButton(content: string): HTMLElement {
  const button = element("button");
  button.type = "button";
  button.className = "chat-copy";
  const say = (words: string): void => {
    button.setAttribute("aria-label", words);
    button.title = words;
  };
  say("Copy");
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(content).then(() => say("Copied"), () => say("The browser does not allow copying"));
    setTimeout(() => say("Copy"), COPIED_MS);
  });
  return button;
}

function frame(author: "user" | "assistant", content: string, mime: string, load?: LoadFile, name = "Agent"): HTMLElement {
  const made = element("li");
  made.className = `chat-message chat-${author}`;
  const who = element("span", author === "user" ? "You" : name);
  who.className = "chat-author";
  const body = element("div");
  body.className = "chat-body";
  const { text, files } = author === "user" ? parted(content) : { text: content, files: [] };
  if (mime === "text/markdown") {
    body.append(markdown(text));
    if (files.length > 0) {
      body.append(fileViews(files, load));
    }
  } else {
    body.append(element("pre", content));
    body.classList.add("chat-plain");
  }
  made.append(who, body);
  return made;
}
