/** The chat as a page of its own, for a server that has nothing else: `ui-mcp chat --face human`. */
import { type Fetch, fetchAsVisitor, codeFromAddress, personClient, reasonOf, sendJson } from "../person/client";
import { chat } from "./chat";
import { server } from "./server";
import "./page.css";

const KEY = "chat-token";
/** The person's code, as terminals show it; links that a token made carry a longer one. */
const CODE = /^[\dA-Z]{4}(?:-[\dA-Z]{4}){3}$/i;

/** Ask with the token that was typed, else as the person. */
function credentials(): { readonly fetch: Fetch; readonly useToken: (token: string) => void; readonly signIn: (code: string) => Promise<void> } {
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
      useToken((await sendJson<{ readonly token: string }>(fetchAsVisitor, "/chat/code", { code })).token); // of a token's link
    }
  };
  const code = codeFromAddress();
  const signedIn = code ? signIn(code).catch(() => undefined) : Promise.resolve(); // a spent code: the page asks below
  return { fetch, useToken, signIn };
}

const root = document.querySelector<HTMLElement>("main");
if (root) {
  const { fetch, useToken, signIn } = credentials();
  const conversation = new URLSearchParams(location.search).get("conversation") ?? "default";
  const askForCode = (_: string, again: () => void): HTMLElement => {
    const form = document.createElement("form");
    const label = document.createElement("label");
    const field = document.createElement("input");
    const open = document.createElement("button");
    const problem = document.createElement("span");
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
  const opened = chat(root, server(conversation, fetch), { signIn: askForCode });
  opened.focus();
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLElement && /^(?:INPUT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !typing) {
      event.preventDefault();
      opened.focus();
    }
  });
}
