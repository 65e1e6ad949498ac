/** The chat page of `nlui`: conversations with tools from the configured APIs and MCP servers. */
import "../chat/page.css";
import "../chat/chat.css";
import "./items.css";
import "./nlui.css";
import { composer } from "../chat/composer";
import { managePrompts, promptsAt } from "../chat/prompts";
import { codeFromAddress, reasonOf } from "../person/client";
import { signInScreen, waitingScreen } from "../person/sign_in";
import { api, type ConversationSettings, person, sendMessage } from "./api";
import { parted } from "./attached";
import { type Attachments, attachments, takeFiles } from "./attachments";
import { appPanel, calledBy } from "./app_panel";
import { conversationSettings, settingsText } from "./conversation_settings";
import { button, make } from "./dom";
import { type Draft, drafts } from "./drafts";
import { find } from "./find";
import { emptyState } from "./empty";
import { forms } from "./forms";
import { follow, type Frame, retryText } from "./follow";
import { log } from "./log";
import { sidebar } from "./sidebar";
import { type Item, Timeline } from "./state";

const RUNNING = new Set(["running", "awaiting_approval"]);
const RUN_TEXT: Readonly<Record<string, string>> = { running: "Working…", awaiting_approval: "Waiting for your answer" };
const UNNAMED = "Chat with your APIs";
const timeline = new Timeline();
let open = "";
let typed = "";
let thought = "";
let run = "";
let away = false;
let appsKnown: Promise<void> = Promise.resolve();
let unfollow: () => void = () => undefined;

const status = make("p.nlui-statusbar", { role: "status" });
const liveRegion = make("div.nlui-spoken", { "aria-live": "polite" });
const stop = button("Stop", () => void act(api.stop(open)), "nlui-small nlui-danger");
const empty = emptyState((text) => void act(send(text)));
const appView = appPanel((id, text) => sendMessage(id, { text, files: [] }), problem);
let apps: Readonly<Record<string, string>> = {};
const view = log(
  {
    edit: (item, text) => act(api.edit(open, indexOf(item), text, parted(item.text ?? "").files)),
    again: (item) => void act(api.regenerate(open, indexOf(item))),
    version: (item) => void act(api.version(open, item)),
    resume: () => void act(api.resume(open)),
    decide: (_, reply) => void act(api.answer(open, reply)),
    review: null,
    load: api.attached,
    app: (item) => (calledBy(item).name in apps ? () => appView.open(open, item) : null),
  },
  empty.element,
);
let files: Attachments;
const prompts = promptsAt("/api/prompts", person.fetch);
const write = composer((text) => void act(send(text)), {
  prompts,
  files: (changed) => (files = attachments({ store: api.attach, load: api.attached }, changed, problem)),
  changed: () => keepDraft(),
});
const panel = sidebar({
  go: openConversation,
  begin: () => void startConversation().catch(problem),
  named: (name) => {
    Object.assign(title, { textContent: name || UNNAMED, title: name });
    document.title = name ? `${name} · nlui` : "nlui";
  },
  problem,
  prompts: () => void managePrompts(prompts).catch(problem),
});
const finding = find(() => timeline.shown(), view.reveal, write.focus);
const menu = button("☰", () => toggleMenu(), "nlui-small nlui-burger");
menu.setAttribute("aria-label", "Conversations and tools");
menu.setAttribute("aria-expanded", "false");
const title = make("h1", {}, UNNAMED);
const adjust = button("Settings", () => void act(currentConversation().then((id) => conversationSettings(id, prompts, showSettings))), "nlui-small");
adjust.title = "Model, instructions and budget of this conversation";
const adjusted = make("span.nlui-adjusted.nlui-dim");

const asked = forms(person.fetch, (words) => {
  if (words) {
    liveRegion.textContent = words;
  }
  draw();
});

const main = make("main.nlui-main", {}, make("header.nlui-bar", {}, menu, title, adjusted, status, stop, adjust), finding.element, view.element, asked.element, write.element, liveRegion);

function showSettings(settings: ConversationSettings): void {
  adjusted.textContent = settingsText(settings);
  adjusted.title = settings.instructions ?? "";
}

function toggleMenu(shown = !document.body.classList.contains("nlui-menu")): void {
  document.body.classList.toggle("nlui-menu", shown);
  menu.setAttribute("aria-expanded", String(shown));
}

function problem(error: unknown): void {
  showStatus(reasonOf(error), true);
}

function showStatus(words: string, bad = false): void {
  status.textContent = words;
  status.classList.toggle("nlui-error", bad);
}

/** A server whose form is open holds up the call, so that a turn that works waits for the person. */
function runText(): string {
  return RUN_TEXT[run === "running" && asked.waiting() ? "awaiting_approval" : run] ?? "";
}

/** Wait for a request and show its error, if any. */
async function act(work: Promise<unknown>): Promise<void> {
  showStatus(runText());
  await work.catch(problem);
}

function keepDraft(): void {
  if (open) {
    drafts.keep(open, { text: write.text(), files: files.files() });
  }
}

function showDraft(draft: Draft): void {
  write.set(draft.text);
  files.set(draft.files);
  if (open) {
    drafts.keep(open, draft);
  }
}

/** Post a message; what cannot be posted is a draft again, and is stored once however often it is sent. */
async function send(text: string): Promise<void> {
  const attached = files.files();
  const before = drafts.of(open);
  const isSame = before.text === text && JSON.stringify(before.files) === JSON.stringify(attached);
  const draft: Draft = { text, files: attached, clientId: (isSame ? before.clientId : undefined) ?? crypto.randomUUID() };
  files.set([]);
  let id = open;
  try {
    id = await currentConversation();
    drafts.keep(id, draft);
    await sendMessage(id, draft);
  } catch (error) {
    if (id === open) {
      bringBack(draft);
    }
    throw error;
  }
  forgetDraft(id, draft.clientId);
  await panel.refresh(open);
}

/** Show a message that was not posted, in front of what was written since. */
function bringBack(draft: Draft): void {
  const since = write.text().trim();
  const more = files.files();
  showDraft(since || more.length > 0 ? { text: [draft.text, since].filter(Boolean).join("\n\n"), files: [...draft.files, ...more] } : draft);
}

/** Remove the draft of a message that has arrived. */
function forgetDraft(id: string, clientId: string | undefined): void {
  const draft = drafts.of(id);
  if (clientId === undefined || draft.clientId !== clientId) {
    return;
  }
  drafts.drop(id);
  if (id === open && write.text() === draft.text && JSON.stringify(files.files()) === JSON.stringify(draft.files)) {
    showDraft({ text: "", files: [] });
  }
}

function indexOf(item: Item): number {
  const kinds = ["user_message", "assistant_markdown", "tool"];
  return timeline.shown().filter((one) => kinds.includes(one.kind)).findIndex((one) => one.id === item.id);
}

function onFrame(frame: Frame): void {
  switch (frame.type) {
    case "ui_state_snapshot":
      timeline.reset(frame.state.items, frame.seq);
      run = frame.run;
      typed = thought = "";
      forgetDraft(open, frame.state.items.find((item) => item.client_id === drafts.of(open).clientId)?.client_id);
      panel.showUsage(frame.usage ?? {});
      void appsKnown.then(() => appView.restore(open, timeline.shown()));
      break;
    case "ui_state_delta":
      if (!timeline.apply(frame.seq, frame.ops)) {
        openConversation(open);
        return;
      }
      for (const op of frame.ops) {
        if (op.op === "append") {
          typed = op.item.kind === "user_message" || op.item.kind === "sampling" ? typed : "";
          announce(op.item);
          if (op.item.kind === "tool") {
            void openAppOf(open, op.item);
          }
        }
      }
      appView.update(timeline.shown());
      break;
    case "run_status":
      run = frame.run;
      if (!RUNNING.has(run)) {
        void panel.refresh(open).catch(problem); // the first answer sets the title
      }
      break;
    case "assistant_delta":
      typed += frame.text;
      break;
    case "reasoning_delta":
      thought += frame.text;
      break;
    case "sampled":
      thought = "";
      break;
    case "retrying":
      showStatus(retryText(frame));
      return;
    case "usage":
      panel.showUsage(frame);
      return;
    case "error":
      showStatus(frame.message, true);
      return;
    default:
      return;
  }
  draw();
}

async function learnApps(): Promise<void> {
  apps = await api.apps().catch(() => apps);
  view.redraw();
}

/** Open the app of a call that has just begun; its server may have been added since the page was loaded. */
async function openAppOf(conversation: string, item: Item): Promise<void> {
  const { name } = calledBy(item);
  if (name.includes("__") && !(name in apps)) {
    await learnApps();
  }
  if (name in apps && conversation === open) {
    appView.open(conversation, item);
  }
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
    if (!working) {
      typed = thought = "";
    }
    view.show(timeline.shown());
    view.typing(typed, thought);
    stop.hidden = !working;
    if (!status.classList.contains("nlui-error")) {
      showStatus(runText());
    }
  });
}

function announce(item: Item): void {
  const words = { assistant_markdown: item.md, approval: `${item.says ?? ""}. Waiting for your answer.`, notice: item.text }[item.kind as string];
  if (words) {
    liveRegion.textContent = words;
  }
}

function openConversation(id: string): void {
  unfollow();
  const began = open === "" && (write.text() !== "" || files.count() > 0);
  const before = open;
  open = id;
  if (began) {
    keepDraft();
  } else if (before !== id) {
    showDraft(drafts.of(id));
  }
  typed = thought = "";
  run = "";
  history.replaceState(null, "", `#${id}`);
  toggleMenu(false);
  timeline.reset([], 0);
  draw();
  panel.showUsage({});
  showSettings({});
  void api.settings(id).then((found) => (id === open ? showSettings(found) : undefined), () => undefined);
  const connected = (yes: boolean): void => {
    if (away && yes) {
      showStatus("");
      void panel.refresh(id).catch(problem);
    } else if (!yes) {
      showStatus("The server cannot be reached. Trying again…", true);
    }
    away = !yes;
  };
  unfollow = follow({ id, token: () => person.credential(), seen: () => timeline.seq, frame: onFrame, connected });
  void act(panel.refresh(id));
  write.focus();
}

/** Leave the open conversation at once, so that what is written while the new one is made belongs to that. */
function leaveConversation(): void {
  if (!open) {
    return;
  }
  unfollow();
  open = typed = thought = run = "";
  timeline.reset([], 0);
  showDraft({ text: "", files: [] });
  draw();
}

let making: Promise<void> | null = null;
function startConversation(): Promise<void> {
  if (making === null) {
    leaveConversation();
    making = api.create().then(({ id }) => openConversation(id)).finally(() => {
      making = null;
    });
  }
  return making;
}

/** Return the open conversation; create one first if there is none. */
async function currentConversation(): Promise<string> {
  if (making || !open) {
    await startConversation();
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
takeFiles(main, (dropped) => files.add(dropped));

function showPage(): void {
  document.body.className = "nlui";
  document.body.replaceChildren(panel.element, main, appView.element);
  appsKnown = learnApps();
  asked.start();
  void empty.offer();
  if (location.hash.length > 1) {
    openConversation(location.hash.slice(1));
  } else {
    void startConversation().catch(problem);
  }
}

/** Close the conversation and show the sign-in screen. */
function askForCode(why: string): void {
  unfollow();
  asked.stop();
  open = "";
  const screen = signInScreen((code) => person.signIn(code).then(showPage), why);
  document.body.className = "";
  document.body.replaceChildren(screen.element);
  screen.focus();
}

/** Sign in with the code in the address, if there is one; a link can also be opened in a tab that shows this page. */
async function signIn(): Promise<void> {
  const code = codeFromAddress();
  let why = "";
  if (code) {
    document.body.className = "";
    document.body.replaceChildren(waitingScreen("Signing you in…"));
    await person.signIn(code).catch((error: unknown) => (why = reasonOf(error)));
  }
  if (person.credential()) {
    showPage();
  } else {
    askForCode(why);
  }
}

person.onSignedOut(askForCode);
addEventListener("hashchange", () => void signIn());
void signIn();
