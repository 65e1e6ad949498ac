/** A Lua console in the session that the app beside it runs in. */
import { button, make } from "../nlui/dom";
import { type Fetch, reasonOf, sendJson } from "./client";
import "./lua_console.css";

interface Answer {
  readonly values: readonly string[];
  readonly printed: readonly string[];
  readonly error: { readonly message: string; readonly traceback: string } | null;
}

export interface LuaConsole {
  readonly element: HTMLElement;
  focus(): void;
}

const MAX_HISTORY = 100;
const KEY = "ui-lua-history";

export function luaConsole(fetch: Fetch, variables: string | null): LuaConsole {
  const log = make("div.lua-log", { role: "log", "aria-label": "Results", tabindex: "0" });
  const input = make("textarea.lua-input", { rows: "1", "aria-label": "Lua", placeholder: "mcp.value", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  const run = make("button.lua-run", { type: "submit" }, "Run");
  const form = make("form.lua-form", {}, make("span.lua-prompt", { "aria-hidden": "true" }, "›"), input, run);
  const clear = button("Clear", () => {
    log.replaceChildren(hint());
    input.focus();
  });
  const inspect = variables ? make("a.lua-link", { href: variables, target: "_blank", rel: "noopener" }, "Variables") : null;
  const element = make("div.lua", {}, make("div.lua-bar", {}, make("span", {}, "Lua in the app’s session"), inspect, clear), log, form);
  const history = stored();
  let at = history.length;
  log.append(hint());

  function hint(): HTMLElement {
    const examples = ["mcp.value", "mcp:status()", 'mcp:display("NAME")'].map((code) => button(code, () => recall(code), "lua-example"));
    return make("div.lua-hint", {}, make("p", {}, "Try an expression or any Lua code. Enter runs it, Shift+Enter starts a new line, ↑ and ↓ bring back what you ran."), ...examples);
  }

  function grow(): void {
    input.rows = Math.min(input.value.split("\n").length, 10);
  }

  function recall(code: string): void {
    input.value = code;
    grow();
    input.focus();
  }

  async function execute(): Promise<void> {
    const code = input.value.trim();
    if (!code) {
      return;
    }
    if (history.at(-1) !== code) {
      history.push(code);
      store(history.slice(-MAX_HISTORY));
    }
    at = history.length;
    input.value = "";
    grow();
    log.querySelector(".lua-hint")?.remove();
    const entry = make("div.lua-entry", {}, again(code));
    const wait = make("p.lua-dim", {}, "…");
    entry.append(wait);
    log.append(entry);
    log.scrollTop = log.scrollHeight;
    try {
      wait.replaceWith(...results(await sendJson<Answer>(fetch, "/console", { code })));
    } catch (error) {
      wait.replaceWith(make("p.lua-error", {}, reasonOf(error)));
    }
    log.scrollTop = log.scrollHeight;
  }

  function again(code: string): HTMLElement {
    const made = button("", () => recall(code), "lua-code");
    made.title = "Edit this again";
    made.append(make("code", {}, code));
    return made;
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void execute();
  });
  input.addEventListener("input", grow);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      void execute();
      return;
    }
    const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    const edge = by < 0 ? !input.value.slice(0, input.selectionStart).includes("\n") : !input.value.slice(input.selectionEnd).includes("\n");
    if (by !== 0 && edge) {
      event.preventDefault();
      at = Math.min(Math.max(at + by, 0), history.length);
      input.value = history[at] ?? "";
      grow();
    }
  });
  return { element, focus: () => input.focus() };
}

function results({ values, printed, error }: Answer): HTMLElement[] {
  const trace = error?.traceback.trim();
  return [
    ...printed.map((line) => make("pre.lua-printed", {}, line)),
    ...values.map((value) => make("pre.lua-value", {}, pretty(value))),
    ...(error ? [make("p.lua-error", {}, error.message), ...(trace ? [make("details.lua-trace", {}, make("summary", {}, "Traceback"), make("pre", {}, trace))] : [])] : []),
    ...(!error && !values.length && !printed.length ? [make("p.lua-dim", {}, "Done; no value.")] : []),
  ];
}

/** A table as indented JSON, unless it is short. */
function pretty(value: string): string {
  if (value.length < 60 || !/^[[{]/.test(value)) {
    return value;
  }
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return value;
  }
}

function stored(): string[] {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

function store(history: readonly string[]): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(history));
  } catch {
    // Without storage the history ends with the page.
  }
}
