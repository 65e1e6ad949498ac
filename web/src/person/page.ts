/**
 * The person's own page: the app in a frame of another origin, and beside it the chat and the calls that need approval.
 * App code in the frame can move the keyboard focus out of the frame and back, so no single key decides anything, and
 * messages from the frame are ignored.
 */
import { type ActivityChanged, followActivity } from "../chat/activity";
import { chat, type Chat } from "../chat/chat";
import { promptsAt } from "../chat/prompts";
import { agentRequests, fileServer, server } from "../chat/server";
import { button, make } from "../nlui/dom";
import { accounts } from "./accounts";
import { badge, notify } from "./attention";
import { type Apps, apps } from "./apps/apps";
import { codeFromAddress, personClient, readJson, reasonOf, RequestError, sendJson } from "./client";
import { handOver } from "./hand_over/hand_over";
import { type Device, deviceNotices, followNotifications, linkFromAddress, questionOf } from "./phone/device";
import { phones } from "./phone/phones";
import { introduce, offerIntroduction, stopsOf } from "./introduction";
import { type LuaConsole, luaConsole } from "./lua_console";
import { navigation, remember, viewOfAddress } from "./navigation";
import { type Settings, settings } from "./settings";
import { type Steps, steps } from "./steps";
import { signInScreen, waitingScreen } from "./sign_in";
import { appFrame, useTheme } from "./frame";
import { pointing } from "./pointing/pointing";
import { pauseAfter, questions, type Questions } from "./questions";
import { type Tab, tabs } from "./tabs";
import { type Tour, tour as agentTour } from "./tour/tour";
import "./person.css";

interface State {
  readonly app_url: string | null;
  readonly version: string;
  readonly base_dir: string | null;
  readonly pending: number;
  readonly chat?: boolean;
  readonly approvals?: boolean;
  /** Whether the server keeps questions of agents and hosts. */
  readonly inbox?: boolean;
  /** Whether the server has apps, settings and a console. */
  readonly console?: boolean;
  readonly introduced?: boolean;
  /** Whether there are servers or APIs to sign in to. */
  readonly accounts?: boolean;
  /** Whether phones can be paired here. */
  readonly phones?: boolean;
  /** The paired phone that shows the page. */
  readonly device?: Device;
  /** The theme kept in the project. */
  readonly theme?: string;
  /** Whether the server has a scripted agent that shows what it can do. */
  readonly tour?: boolean;
}

const NAME = "ui-mcp";
const person = personClient();
let close: () => void = () => undefined;

function show(...screen: readonly HTMLElement[]): void {
  close();
  close = () => undefined;
  document.title = NAME;
  badge(0);
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
  const wheel = state.console ? handOver(person.fetch, () => person.credential()) : null;
  const above = make("div.person-above", {}, banner, ...(wheel ? [wheel.element] : []));
  const spoken = make("div.person-spoken", { "aria-live": "polite" });
  let previewing = false;
  let awaited = false;
  let questionList: Questions | null = null;
  let chatView: Chat | null = null;
  const watched: Tour | null = state.tour && frame ? agentTour(person.fetch, { tour: () => openPanel("tour"), questions: () => reviewNext() }) : null;
  const consoleViews = state.console && state.app_url !== null ? makeConsole(state.app_url) : null;

  const phoneList = state.phones ? phones(person.fetch) : null;
  const endFollowing = followNotifications();

  const views: Tab[] = [];
  if (frame) {
    views.push({ id: "app", name: "App", panel: frame.element });
  }
  if (consoleViews) {
    views.push({ id: "apps", name: "All apps", panel: consoleViews.apps.element, main: true });
    views.push({ id: "settings", name: "Settings", panel: consoleViews.settings.element, main: true, untabbed: true });
  }
  if (watched) {
    views.push({ id: "tour", name: "Tour", panel: make("section.person-view.person-tour", { "aria-label": "Tour" }, watched.element) });
  }
  if (hasChat) {
    const talk = make("div.person-talk");
    const body = make("section.person-view.person-chat", { "aria-label": "Chat with your agent" }, ...(consoleViews ? [consoleViews.steps.element] : []), talk);
    views.push({ id: "chat", name: "Chat", panel: body });
    const follow = (changed: ActivityChanged): (() => void) =>
      followActivity({ conversation: "default", credential: () => person.credential(), review: (item) => review(item.approval_id) }, changed);
    queueMicrotask(() => {
      chatView = chat(talk, server("default", person.fetch), {
        follow,
        ask: agentRequests("default", person.fetch),
        files: fileServer(person.fetch),
        prompts: promptsAt("/chat/prompts", person.fetch),
      });
    });
  }
  if (state.approvals ?? true) {
    questionList = questions(person.fetch, { waiting: count, trouble }, state.inbox);
    questionList.element.append(...(state.device ? [deviceNotices(person.fetch, state.device)] : []), ...(phoneList ? [phoneList.element] : []));
    views.push({ id: "questions", name: "Inbox", panel: make("section.person-view", { "aria-label": "Inbox" }, questionList.element) });
  }
  const accountList = state.accounts ? accounts(person.fetch) : null;
  if (accountList) {
    views.push({ id: "accounts", name: "Accounts", panel: make("section.person-view", { "aria-label": "Accounts" }, accountList.element) });
  }
  if (consoleViews) {
    views.push({ id: "console", name: "Console", panel: make("section.person-view.person-lua", { "aria-label": "Lua console" }, consoleViews.lua.element) });
  }
  const nav = consoleViews ? navigation((id) => bar.choose(id)) : null;
  const bar = tabs(views, firstView(state, hasChat), (id, side) => {
    nav?.show(id);
    consoleViews?.apps.shown(id === "apps");
    consoleViews?.settings.shown(id === "settings");
    accountList?.shown(side === "accounts");
    document.body.classList.toggle("apps-preview", id === "apps" && previewing);
    document.body.classList.toggle("touring", id === "tour");
    remember(id);
  });
  const toggle = button("Panel", () => togglePanel(), "person-toggle");
  toggle.title = "Show or hide chat, inbox and console (Alt+C)";
  toggle.hidden = !frame;

  const pointer = frame && hasChat ? pointing(frame.element, () => frame.origin(), person.fetch, () => bar.choose("app")) : null;

  function makeConsole(appUrl: string): ConsoleViews {
    const about = apps(person.fetch, { preview });
    return {
      apps: about,
      settings: settings(person.fetch, { theme: useTheme, introduce: tour, signOut: () => void person.signOut() }),
      lua: luaConsole(person.fetch, new URL("/variables", appUrl).href),
      steps: steps(person.fetch, (progress) => about.progress(progress)),
    };
  }

  function preview(isOn: boolean): void {
    previewing = isOn;
    document.body.classList.toggle("apps-preview", isOn);
    if (isOn && bar.isNarrow()) {
      bar.choose("app");
    }
  }

  function tour(): void {
    introduce(stopsOf((id) => bar.choose(id)), () => {
      bar.choose("app");
      void sendJson(person.fetch, "/settings/introduction", { seen: true }, "PUT").catch(() => undefined);
    });
  }

  function openPanel(id: string): void {
    document.body.classList.remove("panel-closed");
    bar.choose(id);
  }

  function review(id?: string): void {
    openPanel("questions");
    questionList?.focus(id);
  }

  /** Show the question of a notification's link; the link works once and decides nothing. */
  async function followLink(link: string): Promise<void> {
    openPanel("questions");
    try {
      await questionList?.reveal(await questionOf(person.fetch, link));
    } catch (error) {
      questionList?.say(reasonOf(error));
    }
  }

  /** Show the questions as soon as there is one. */
  function reviewNext(): void {
    if (pill.hidden) {
      awaited = true;
    } else {
      review();
    }
  }

  function count(waiting: number, news: string): void {
    pill.hidden = waiting === 0;
    pill.textContent = waiting === 1 ? "1 question waiting" : `${waiting} questions waiting`;
    document.title = waiting ? `(${waiting}) ${NAME}` : NAME;
    badge(waiting);
    bar.count("questions", waiting);
    if (awaited && waiting > 0) {
      awaited = false;
      review();
    }
    if (news) {
      spoken.textContent = `${pill.textContent} for your answer`;
      notify(news, () => review());
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
  show(head(state, nav?.element ?? null, pill, ...(pointer ? [pointer.button] : []), toggle), make("main.person-main", {}, above, bar.element, ...views.map((view) => view.panel), spoken));
  document.body.classList.add(frame ? "with-app" : "without-app", ...(views.length === 1 ? ["single-view"] : []));
  document.body.classList.toggle("touring", bar.isNarrow() && bar.chosen() === "tour");
  frame?.element.addEventListener("load", () => watched?.begin(), { once: true });
  close = () => {
    document.removeEventListener("keydown", keys);
    questionList?.stop();
    phoneList?.stop();
    endFollowing();
    chatView?.stop();
    accountList?.stop();
    watched?.stop();
    pointer?.stop();
    wheel?.stop();
    consoleViews?.apps.stop();
    consoleViews?.steps.stop();
    removeEventListener("popstate", back);
  };
  const back = (): void => bar.choose(viewOfAddress() ?? "app");
  addEventListener("popstate", back);
  const link = linkFromAddress();
  if (link) {
    void followLink(link);
  }
  if (consoleViews) {
    window.uiProjectTheme?.(state.theme ?? "");
    if (state.introduced === false && !watched) {
      above.append(offerIntroduction(tour, () => void sendJson(person.fetch, "/settings/introduction", { seen: true }, "PUT").catch(() => undefined)));
    }
  }
}

interface ConsoleViews {
  readonly apps: Apps;
  readonly settings: Settings;
  readonly lua: LuaConsole;
  readonly steps: Steps;
}

function firstView(state: State, hasChat: boolean): string {
  const named = viewOfAddress();
  if (named !== undefined && state.console) {
    return named;
  }
  if (location.pathname.startsWith("/sign-ins") && state.accounts) {
    return "accounts";
  }
  if (/^\/(inbox|approvals)/.test(location.pathname) || state.pending > 0 || !hasChat) {
    return "questions";
  }
  if (state.tour && location.pathname === "/") {
    return "tour";
  }
  return location.pathname.startsWith("/chat") || state.app_url === null || !matchMedia("(max-width: 800px)").matches ? "chat" : "app";
}

function head(state: State, nav: HTMLElement | null, ...controls: readonly HTMLElement[]): HTMLElement {
  const problem = make("span.person-problem", { role: "alert" });
  const mark = make("span.page-home", { "aria-hidden": "true" });
  window.uiMark?.(mark);
  const themeSwitch = make("select", { "aria-label": "Theme" });
  themeSwitch.dataset["themeSwitch"] = "";
  window.uiLook?.(themeSwitch);
  document.addEventListener("ui-look", () => window.uiLook?.(themeSwitch));
  if (state.console) {
    themeSwitch.addEventListener("change", () => {
      delete document.documentElement.dataset["appTheme"];
      void sendJson(person.fetch, "/settings/theme", { name: themeSwitch.value }, "PUT").catch((error: unknown) => (problem.textContent = reasonOf(error)));
    });
  }
  const signOut = button("Sign out", () => void person.signOut().catch((error: unknown) => (problem.textContent = reasonOf(error))), "person-quiet");
  const where = state.base_dir ? make("span.person-where", { title: state.base_dir }, state.base_dir) : make("span.person-where");
  return make("header.person-head", {}, mark, make("h1", { title: `Version ${state.version}` }, NAME), nav, where, problem, ...controls, themeSwitch, signOut);
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
