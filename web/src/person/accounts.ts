/** Who is signed in where: the accounts at servers and APIs, with buttons to sign in and out. */
import { button, make } from "../nlui/dom";
import { type Fetch, readJson, reasonOf, sendJson } from "./client";
import "./accounts.css";

export interface Account {
  readonly name: string;
  readonly url: string;
  readonly state: "signed in" | "signed out" | "expired";
  readonly account?: string;
  readonly issuer?: string;
  readonly scopes?: readonly string[];
  readonly since?: string;
  readonly kept_in?: string;
  /** Why the last sign-in ended. */
  readonly problem?: string;
  /** Why the sign-in that was just tried failed. */
  readonly error?: string;
  readonly waiting?: { readonly url: string; readonly user_code: string };
}

export interface Accounts {
  readonly element: HTMLElement;
  shown(isShown: boolean): void;
  stop(): void;
}

const SOON = 1500;

export function accounts(fetch: Fetch): Accounts {
  const problem = make("p.acc-problem", { role: "alert" });
  const spoken = make("p.acc-spoken", { role: "status" });
  const list = make("ul.acc-list", { "aria-label": "Accounts" });
  const heading = make("h1", {}, "Accounts");
  const about = make("p.acc-dim", {}, "Where you are signed in, so that tools can act for you. Agents see neither your passwords nor the tokens.");
  const element = make("div.acc", {}, heading, about, problem, spoken, list);
  let timer = 0;
  let isShown = false;
  let before: readonly Account[] = [];

  async function refresh(): Promise<void> {
    clearTimeout(timer);
    try {
      const found = (await readJson<{ readonly accounts: readonly Account[] }>(fetch, "/sign-ins")).accounts;
      problem.textContent = "";
      draw(found);
    } catch (error) {
      problem.textContent = reasonOf(error);
    }
    if (isShown && before.some((one) => one.waiting)) {
      timer = window.setTimeout(() => void refresh(), SOON);
    }
  }

  function draw(found: readonly Account[]): void {
    const done = found.find((one) => one.state === "signed in" && before.some((old) => old.name === one.name && old.waiting));
    if (done) {
      spoken.textContent = `You are signed in to ${done.name}.`;
    }
    // Redrawing an unchanged list would take the keyboard focus away.
    if (JSON.stringify(found) !== JSON.stringify(before) || !list.hasChildNodes()) {
      list.replaceChildren(...(found.length ? found.map(row) : [make("li.acc-dim", {}, "No server or API has asked you to sign in.")]));
    }
    before = found;
  }

  async function act(path: string, body: Readonly<Record<string, string>>): Promise<void> {
    problem.textContent = spoken.textContent = "";
    try {
      await sendJson(fetch, `/sign-ins/${path}`, body);
    } catch (error) {
      problem.textContent = reasonOf(error);
    }
    const said = problem.textContent;
    await refresh();
    problem.textContent ||= said;
  }

  function row(one: Account): HTMLElement {
    const state = make("span.acc-state", { class: `acc-state acc-${one.state.replace(" ", "-")}` }, stateOf(one));
    const head = make("div.acc-head", {}, make("strong", {}, one.name), state);
    const details = [one.url, one.issuer ? `signs in at ${one.issuer}` : "", one.kept_in ? `kept in ${keptIn(one.kept_in)}` : ""].filter(Boolean);
    const scopes = one.scopes?.length ? make("p.acc-dim", {}, `May use: ${one.scopes.join(", ")}`) : null;
    const why = one.error ?? one.problem;
    return make(
      "li.acc-row",
      {},
      head,
      make("p.acc-dim", {}, details.join(" · ")),
      scopes,
      why ? make("p.acc-problem", {}, why) : null,
      one.waiting ? waitingFor(one, one.waiting) : buttons(one),
    );
  }

  function waitingFor(one: Account, waiting: { readonly url: string; readonly user_code: string }): HTMLElement {
    const link = make("a.acc-go", { href: waiting.url, target: "_blank", rel: "noopener noreferrer" }, `Continue at ${hostOf(waiting.url)}`);
    const code = waiting.user_code ? make("p", {}, "Enter the code ", make("code.acc-code", {}, waiting.user_code)) : null;
    return make("div.acc-waiting", {}, code, make("div.acc-buttons", {}, link, button("Cancel", () => void act("cancel", { name: one.name }))));
  }

  function buttons(one: Account): HTMLElement {
    const named = (made: HTMLButtonElement, what: string): HTMLButtonElement => {
      made.setAttribute("aria-label", `${what} ${one.name}`);
      return made;
    };
    if (one.state === "signed in") {
      return make("div.acc-buttons", {}, named(button("Sign out", () => void act("sign-out", { name: one.name })), "Sign out of"));
    }
    return make(
      "div.acc-buttons",
      {},
      named(button("Sign in", () => void act("begin", { name: one.name, way: "browser" }), "acc-main"), "Sign in to"),
      named(button("With a code, on another device", () => void act("begin", { name: one.name, way: "device" })), "With a code, on another device: sign in to"),
    );
  }

  return {
    element,
    shown(now) {
      isShown = now;
      clearTimeout(timer);
      if (now) {
        void refresh();
      }
    },
    stop() {
      isShown = false;
      clearTimeout(timer);
    },
  };
}

function stateOf(one: Account): string {
  if (one.waiting) {
    return "waiting for you";
  }
  const who = one.account ? ` as ${one.account}` : "";
  const since = one.since ? ` since ${new Date(one.since).toLocaleString()}` : "";
  return one.state === "signed in" ? `signed in${who}${since}` : one.state;
}

function keptIn(place: string): string {
  return place === "keyring" ? "your system’s keyring" : "a private file";
}

function hostOf(url: string): string {
  return new URL(url).host;
}
