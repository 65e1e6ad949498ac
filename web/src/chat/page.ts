/** The chat's own page, for servers without a UI: `ui-mcp chat --face human`. */
import { type Fetch, fetchAsVisitor, codeFromAddress, personClient, reasonOf, sendJson } from "../person/client";
import { followActivity } from "./activity";
import { chat } from "./chat";
import { element } from "./inline";
import { promptsAt } from "./prompts";
import { agentRequests, fileServer, server } from "./server";
import "./page.css";

const KEY = "chat-token";
/** The person's sign-in code as terminals print it; links made with an access token carry a longer one. */
const CODE = /^[\dA-Z]{4}(?:-[\dA-Z]{4}){3}$/i;

/** Requests with the access token that was entered, else with the person's credential. */
function credentials(): {
  readonly fetch: Fetch;
  readonly current: () => string;
  readonly useToken: (token: string) => void;
  readonly signIn: (code: string) => Promise<void>;
} {
  const person = personClient();
  let token = sessionStorage.getItem(KEY) ?? "";
  const useToken = (given: string): void => {
    token = given;
    sessionStorage.setItem(KEY, given);
  };
  const fetch: Fetch = async (path, options = {}) => {
    await signedIn;
    const headers = new Headers(options.headers);
    if (token) {
      headers.set("Authorization", `Bearer ${token}`);
    }
    return person.fetch(path, { ...options, headers });
  };
  const signIn = async (code: string): Promise<void> => {
    if (CODE.test(code)) {
      useToken("");
      await person.signIn(code);
    } else {
      useToken((await sendJson<{ readonly token: string }>(fetchAsVisitor, "/chat/code", { code })).token);
    }
  };
  const code = codeFromAddress();
  const signedIn = code ? signIn(code).catch(() => undefined) : Promise.resolve(); // a spent code: the page asks for another
  return { fetch, current: () => token || person.credential(), useToken, signIn };
}

const root = document.querySelector<HTMLElement>("main");
if (root) {
  const { fetch, current, useToken, signIn } = credentials();
  const conversation = new URLSearchParams(location.search).get("conversation") ?? "default";
  const askForCode = (_: string, again: () => void): HTMLElement => {
    const form = element("form");
    const label = element("label");
    const field = element("input");
    const open = element("button");
    const problem = element("span");
    problem.setAttribute("role", "alert");
    field.type = "password";
    field.setAttribute("aria-label", "Code or token");
    field.autocomplete = "off";
    field.required = true;
    open.textContent = "Open";
    label.append("Enter the code that your terminal shows, or a token. ", field);
    form.append(label, open, problem);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const given = field.value.trim();
      if (CODE.test(given)) {
        signIn(given).then(again, (error: unknown) => (problem.textContent = reasonOf(error)));
      } else {
        useToken(given);
        again();
      }
    });
    return form;
  };
  const follow = (changed: Parameters<typeof followActivity>[1]): (() => void) => followActivity({ conversation, credential: current, review: null }, changed);
  const opened = chat(root, server(conversation, fetch), { signIn: askForCode, follow, ask: agentRequests(conversation, fetch), files: fileServer(fetch), prompts: promptsAt("/chat/prompts", fetch) });
  opened.focus();
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLElement && /^(?:INPUT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !typing) {
      event.preventDefault();
      opened.focus();
    }
  });
}
