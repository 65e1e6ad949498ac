/**
 * The person's own page: the app in a frame of another origin, and beside it the chat and the calls that need approval.
 * App code in the frame can move the keyboard focus out of the frame and back, so no single key decides anything, and
 * messages from the frame are ignored.
 */
import { type ActivityByMessage, followActivity } from "../chat/activity";
import { chat, type Chat } from "../chat/chat";
import { server } from "../chat/server";
import { button, make } from "../nlui/dom";
import { codeFromAddress, personClient, readJson, reasonOf, RequestError } from "./client";
import { signInScreen, waitingScreen } from "./sign_in";
import { appFrame } from "./frame";
import { pauseAfter, questions, type Questions } from "./questions";
import { type Tab, tabs } from "./tabs";
import "./person.css";

interface State {
  readonly app_url: string | null;
  readonly version: string;
  readonly base_dir: string | null;
  readonly pending: number;
  readonly chat?: boolean;
  readonly approvals?: boolean;
}

const NAME = "ui-mcp";
const person = personClient();
let close: () => void = () => undefined;

function show(...screen: readonly HTMLElement[]): void {
  close();
  close = () => undefined;
  document.title = NAME;
  document.body.className = "person";
  document.body.replaceChildren(...screen);
}

function askForCode(why: string): void {
  const screen = signInScreen((code) => person.signIn(code).then(open), why);
  show(screen.element);
  screen.focus();
}

async function stateNow(): Promise<State> {
  const state = await readJson<State>(person.fetch, "/person/state");
  return { ...state, app_url: state.app_url || null };
}

/** Load the server's state, retrying with back-off, and show the page. */
async function open(): Promise<void> {
  show(waitingScreen("Loading…"));
  for (let failures = 1; ; failures++) {
    try {
      shell(await stateNow());
      return;
    } catch (error) {
      if (error instanceof RequestError && error.status === 401) {
        return; // the sign-in screen is already shown
      }
      const pause = pauseAfter(failures);
      show(waitingScreen(`${reasonOf(error)} Trying again in ${Math.round(pause / 1000)} s…`));
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

function shell(state: State): void {
  const hasChat = state.chat ?? state.app_url !== null;
  const frame = state.app_url === null ? null : appFrame(state.app_url);
  const pill = button("", () => review(), "person-waiting");
  pill.hidden = true;
  const banner = make("div.person-banner", { role: "status" });
  banner.hidden = true;
  const spoken = make("div.person-spoken", { "aria-live": "polite" });
  let questionList: Questions | null = null;
  let chatView: Chat | null = null;

  const views: Tab[] = [];
  if (frame) {
    views.push({ id: "app", name: "App", panel: frame.element });
  }
  if (hasChat) {
    const body = make("section.person-view.person-chat", { "aria-label": "Chat with your agent" });
    views.push({ id: "chat", name: "Chat", panel: body });
    const follow = (changed: (activity: ActivityByMessage) => void): (() => void) =>
      followActivity({ conversation: "default", credential: person.credential(), review: (item) => review(item.approval_id) }, changed);
    queueMicrotask(() => {
      chatView = chat(body, server("default", person.fetch), { follow });
    });
  }
  if (state.approvals ?? true) {
    questionList = questions(person.fetch, { waiting: count, trouble });
    views.push({ id: "questions", name: "Questions", panel: make("section.person-view", { "aria-label": "Questions" }, questionList.element) });
  }
  const bar = tabs(views, firstView(state, hasChat));
  const toggle = button("Panel", () => togglePanel(), "person-toggle");
  toggle.title = "Show or hide chat and questions (Alt+C)";
  toggle.hidden = !frame;

  function review(id?: string): void {
    document.body.classList.remove("panel-closed");
    bar.choose("questions");
    questionList?.focus(id);
  }

  function count(waitingCalls: number, more: boolean): void {
    pill.hidden = waitingCalls === 0;
    pill.textContent = waitingCalls === 1 ? "1 call waits" : `${waitingCalls} calls wait`;
    document.title = waitingCalls ? `(${waitingCalls}) ${NAME}` : NAME;
    bar.count("questions", waitingCalls);
    if (more) {
      spoken.textContent = `${pill.textContent} for your answer`;
    }
  }

  let away = false;
  function trouble(why: string | null, seconds: number): void {
    banner.hidden = why === null;
    banner.replaceChildren();
    if (why !== null) {
      away = true;
      const now = button("Try now", () => questionList?.refresh(), "ask-quiet");
      banner.append(`${why} Trying again in ${seconds} s. Your answers so far are saved.`, now);
    } else if (away) {
      away = false; // the app may have another port after a restart
      void stateNow().then(({ app_url }) => frame?.go(app_url), () => undefined);
    }
  }

  function togglePanel(): void {
    if (bar.isNarrow()) {
      bar.choose(bar.chosen() === "chat" && frame ? "app" : "chat");
    } else {
      const closed = document.body.classList.toggle("panel-closed", frame !== null && !document.body.classList.contains("panel-closed"));
      toggle.setAttribute("aria-expanded", String(!closed));
    }
    if (!document.body.classList.contains("panel-closed") && bar.chosen() === "chat") {
      chatView?.focus();
    }
  }

  const keys = (event: KeyboardEvent): void => {
    if (event.code === "KeyC" && event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      togglePanel();
    }
  };
  document.addEventListener("keydown", keys);
  toggle.setAttribute("aria-expanded", "true");
  show(head(state, pill, toggle), make("main.person-main", {}, banner, bar.element, ...views.map((view) => view.panel), spoken));
  document.body.classList.add(frame ? "with-app" : "without-app", ...(views.length === 1 ? ["single-view"] : []));
  close = () => {
    document.removeEventListener("keydown", keys);
    questionList?.stop();
    chatView?.stop();
  };
}

function firstView(state: State, hasChat: boolean): string {
  if (location.pathname.startsWith("/approvals") || state.pending > 0 || !hasChat) {
    return "questions";
  }
  return location.pathname.startsWith("/chat") || state.app_url === null || !matchMedia("(max-width: 800px)").matches ? "chat" : "app";
}

function head(state: State, ...controls: readonly HTMLElement[]): HTMLElement {
  const mark = make("span.page-home", { "aria-hidden": "true" });
  window.uiMark?.(mark);
  const themeSwitch = make("select", { "aria-label": "Theme" });
  themeSwitch.dataset["themeSwitch"] = "";
  window.uiLook?.(themeSwitch);
  const problem = make("span.person-problem", { role: "alert" });
  const signOut = button("Sign out", () => void person.signOut().catch((error: unknown) => (problem.textContent = reasonOf(error))), "person-quiet");
  const where = state.base_dir ? make("span.person-where", { title: state.base_dir }, state.base_dir) : make("span.person-where");
  return make("header.person-head", {}, mark, make("h1", { title: `Version ${state.version}` }, NAME), where, problem, ...controls, themeSwitch, signOut);
}

/** Sign in with the code in the address, if there is one; a link can also be opened in a tab that shows this page. */
async function signIn(): Promise<void> {
  const code = codeFromAddress();
  let why = "";
  if (code) {
    show(waitingScreen("Signing you in…"));
    await person.signIn(code).catch((error: unknown) => (why = reasonOf(error)));
  }
  if (person.credential()) {
    await open();
  } else {
    askForCode(why);
  }
}

person.onSignedOut(askForCode);
addEventListener("hashchange", () => void signIn());
void signIn();
