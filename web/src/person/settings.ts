/** The settings of the project: theme, what apps may do, and every other setting with its meaning. */
import { button, make } from "../nlui/dom";
import { type Fetch, readJson, reasonOf, sendJson } from "./client";
import { control } from "./setting_control";
import "./settings.css";

export interface Setting {
  readonly key: string;
  readonly about: string;
  readonly kind: "switch" | "number" | "text" | "choice" | "list";
  readonly choices: readonly string[];
  readonly default: unknown;
  /** What is in effect now. */
  readonly value: unknown;
  /** What the file says, or null. */
  readonly given: unknown;
  readonly widens: boolean;
}

interface Theme {
  readonly name: string;
  readonly about: string;
  readonly accent: string;
  readonly dark: boolean;
}

interface Refusal {
  readonly setting: string;
  readonly path: string;
  readonly message: string;
  readonly line: string;
}

export interface Shown {
  readonly theme: string;
  readonly themes: readonly Theme[];
  readonly version: string;
  readonly base_dir: string;
  readonly file: string;
  readonly status: Readonly<Record<string, unknown>>;
  readonly sections: readonly { readonly name: string; readonly about: string; readonly settings: readonly Setting[] }[];
  readonly overridden: Readonly<Record<string, string>>;
  readonly agreement: { readonly rights: readonly { readonly key: string; readonly value: unknown }[]; readonly agreed: boolean; readonly digest: string };
  readonly restart: boolean;
  readonly refusals: readonly Refusal[];
}

export interface Settings {
  readonly element: HTMLElement;
  shown(isShown: boolean): void;
}

export interface SettingsSurroundings {
  /** Use a theme on this page and in the app; `isDark` tells which of our own fits one of the project's. */
  theme(name: string, isDark: boolean): void;
  introduce(): void;
  signOut(): void;
}

const RIGHTS = "lua.permissions";
const TITLES: Readonly<Record<string, readonly [title: string, about: string]>> = {
  server: ["Addresses and ports", "where the server listens, and for whom"],
  session: ["Sessions", "how long they live, and who shares them"],
  lua: ["Lua engine", "reloading, time and memory of apps"],
  mcp: ["Agents", "what MCP clients get"],
  logging: ["Log", "how much is written"],
  introspection: ["Looking at pages and programs", "what agents may see and operate"],
  "introspection.snapshot_defaults": ["Snapshots", "what they contain"],
  gateway: ["Gateway", "mounted servers and APIs"],
  chat: ["Chat", "limits of the conversation"],
  storage: ["Storage", "where chats are kept"],
  publisher: ["Publisher", "what bookmarklets and programs send to apps"],
  update: ["Updates", "whether to look for newer releases"],
};
const NOTE = "Takes effect when the server starts again.";

export function settings(fetch: Fetch, around: SettingsSurroundings): Settings {
  const body = make("div.set-body");
  const said = make("p.set-said", { role: "status" });
  const problem = make("p.set-problem", { role: "alert" });
  const element = make("section.person-main-view.set", { "aria-label": "Settings" }, make("div.set-inner", {}, make("h1", {}, "Settings"), problem, body, said));

  async function act(work: Promise<Shown>, words: string): Promise<void> {
    try {
      draw(await work);
      problem.textContent = "";
      say(words);
    } catch (error) {
      problem.textContent = reasonOf(error);
      problem.scrollIntoView({ block: "nearest" });
    }
  }

  let saying = 0;
  function say(words: string): void {
    said.textContent = words;
    said.classList.toggle("set-visible", words !== "");
    clearTimeout(saying);
    saying = window.setTimeout(() => say(""), 6000);
  }

  async function change(setting: Setting, value: unknown): Promise<void> {
    const isWider = setting.widens && value !== null && JSON.stringify(value) !== JSON.stringify(setting.default) && value !== false;
    if (isWider && !(await confirmWider(element, setting, value))) {
      await load();
      return;
    }
    await act(sendJson<Shown>(fetch, "/settings/values", { key: setting.key, value, agree: setting.widens }, "PUT"), `Saved. ${NOTE}`);
  }

  async function chooseTheme(name: string, isDark: boolean): Promise<void> {
    try {
      await sendJson(fetch, "/settings/theme", { name }, "PUT");
      around.theme(name, isDark);
    } catch (error) {
      problem.textContent = reasonOf(error);
    }
  }

  function draw(now: Shown): void {
    const open = new Set([...body.querySelectorAll<HTMLDetailsElement>("details[open]")].map((one) => one.id));
    const focused = body.contains(document.activeElement) ? (document.activeElement as HTMLElement).id : "";
    const all = new Map(now.sections.flatMap((section) => section.settings).map((setting) => [setting.key, setting]));
    const row = (setting: Setting): HTMLElement => settingRow(setting, now.overridden[setting.key], (value) => void change(setting, value));
    const rights = now.sections.find((section) => section.name === RIGHTS)?.settings ?? [];
    body.replaceChildren(
      ...(now.restart ? [make("p.set-banner", {}, "Some settings are saved but not in effect. They take effect when the server starts again; your agent can do that with ui_configure and ui_start.")] : []),
      ...(now.agreement.rights.length ? [agreementCard(now)] : []),
      card("Appearance", "For this browser, and kept in the project for others that have no choice of their own.", themes(now)),
      card(
        "What apps may do",
        "Apps run in a sandbox of their own. These settings open it for all apps of this project; what widens rights needs your agreement.",
        ...refused(now.refusals, all),
        ...rights.map(row),
      ),
      card(
        "This page",
        "",
        make("div.set-row", {}, words("Introduction", "The short tour of this page."), button("Show it again", () => around.introduce())),
        make("div.set-row", {}, words("Sign out", "This browser needs a new code from your terminal afterwards."), button("Sign out here", () => around.signOut())),
      ),
      card("All other settings", `They are lines of ${now.file}; comments and order in the file are kept.`, ...now.sections.filter((section) => section.name !== RIGHTS && section.settings.length).map((section) => more(section.name, section.about, section.settings.map(row), open))),
      card("About", "", facts(now)),
    );
    (focused ? document.getElementById(focused) : null)?.focus();
  }

  function agreementCard(now: Shown): HTMLElement {
    const { rights, agreed, digest } = now.agreement;
    const lines = rights.map(({ key, value }) => make("li", {}, make("code", {}, `${key} = ${JSON.stringify(value)}`)));
    const act1 = agreed
      ? button("Withdraw", () => void act(sendJson<Shown>(fetch, "/settings/agreement", {}, "DELETE"), `Withdrawn. ${NOTE}`))
      : button("Agree", () => void act(sendJson<Shown>(fetch, "/settings/agreement", { digest }), `Agreed. ${NOTE}`), "set-primary");
    return make(
      agreed ? "section.set-card" : "section.set-card.set-asks",
      { "aria-label": "Your agreement" },
      make("h2", {}, agreed ? "You agreed to wider rights" : "This project asks for wider rights"),
      make("p", {}, agreed ? "These lines of the project’s settings are in effect because you agreed to them." : "These lines of the project’s settings have no effect until you agree. Agree only if you know why the project needs them."),
      make("ul.set-lines", {}, ...lines),
      act1,
    );
  }

  function themes(now: Shown): HTMLElement {
    const one = (name: string, about: string, isDark: boolean): HTMLElement => {
      const input = make("input", { type: "radio", name: "theme", value: name, id: `theme-${name}` });
      input.checked = now.theme === name;
      input.addEventListener("change", () => void chooseTheme(name, isDark));
      const sample = make("span.set-sample", { "aria-hidden": "true" }, make("i"), make("i"), make("i"));
      const accent = now.themes.find((theme) => theme.name === name)?.accent;
      if (accent) {
        sample.style.setProperty("--sample-accent", accent);
      }
      sample.dataset["dark"] = name === "auto" ? "auto" : String(isDark);
      return make("label.set-theme", {}, input, sample, make("span", {}, make("b", {}, name.slice(0, 1).toUpperCase() + name.slice(1)), make("small", {}, about)));
    };
    return make("div.set-themes", { role: "radiogroup", "aria-label": "Theme" }, one("auto", "Follows your system.", matchMedia("(prefers-color-scheme: dark)").matches), ...now.themes.map((theme) => one(theme.name, theme.about, theme.dark)));
  }

  function refused(list: readonly Refusal[], all: ReadonlyMap<string, Setting>): HTMLElement[] {
    const rows = list.flatMap((one) => {
      const setting = all.get(`${RIGHTS}.${one.setting}`);
      const value = valueOf(one.line);
      if (!setting || value === undefined || JSON.stringify(setting.given) === JSON.stringify(value)) {
        return [];
      }
      return [make("li", {}, make("span", {}, one.message.split("\n")[0] ?? ""), make("code", {}, one.line), button("Allow…", () => void change(setting, value)))];
    });
    return rows.length ? [make("div.set-refused", {}, make("h3", {}, "Refused lately"), make("ul", {}, ...rows))] : [];
  }

  async function load(): Promise<void> {
    try {
      draw(await readJson<Shown>(fetch, "/settings"));
      problem.textContent = "";
    } catch (error) {
      problem.textContent = reasonOf(error);
    }
  }
  return {
    element,
    shown(isShown) {
      if (isShown) {
        void load();
      }
    },
  };
}

function card(title: string, about: string, ...rows: readonly HTMLElement[]): HTMLElement {
  return make("section.set-card", { "aria-label": title }, make("h2", {}, title), about ? make("p", {}, about) : null, ...rows);
}

function words(title: string, about: string): HTMLElement {
  return make("div.set-words", {}, make("b", {}, title), make("small", {}, about));
}

function more(name: string, about: string, rows: readonly HTMLElement[], open: ReadonlySet<string>): HTMLElement {
  const made = make("details.set-more", { id: `set-${name}` }, make("summary", {}, make("b", {}, TITLES[name]?.[0] ?? name), make("small", {}, TITLES[name]?.[1] ?? about)), ...rows);
  made.open = open.has(made.id);
  return made;
}

function settingRow(setting: Setting, variable: string | undefined, save: (value: unknown) => void): HTMLElement {
  const name = setting.key.slice(setting.key.lastIndexOf(".") + 1);
  const id = `set-${setting.key.replaceAll(".", "-")}`;
  const now = setting.given ?? setting.default;
  const pending = JSON.stringify(now) !== JSON.stringify(setting.value);
  const notes = [
    setting.widens ? "More than the default needs your agreement" : "",
    setting.given === null ? "" : `default: ${shownValue(setting.default)}`,
  ].filter(Boolean);
  const effect = variable ? `Set by ${variable} in the environment.` : pending ? `In effect now: ${shownValue(setting.value)}.` : "";
  const reset = button("Reset", () => save(null), "set-reset");
  reset.hidden = setting.given === null;
  reset.setAttribute("aria-label", `Reset ${name} to its default`);
  return make(
    `div.set-row${setting.kind === "list" ? ".set-tall" : ""}` as "div",
    {},
    make("div.set-words", {}, make("label", { for: id }, name.replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase())), make("small", {}, plainText(setting.about)), notes.length ? make("small", {}, notes.join(" · ")) : null, effect ? make("small.set-notes", {}, effect) : null),
    make("div.set-control", {}, control(setting, id, now, save), reset),
  );
}

/** Descriptions are written for Markdown. */
function plainText(text: string): string {
  return text.replaceAll("`", "");
}

function shownValue(value: unknown): string {
  if (Array.isArray(value)) {
    return value.length ? value.join(", ") : "none";
  }
  return value === null || value === undefined || value === "" ? "none" : typeof value === "boolean" ? (value ? "on" : "off") : `${value as string | number}`;
}

/** The value in a line such as `write = ["a", "b"]`, or undefined. */
function valueOf(line: string): unknown {
  try {
    return JSON.parse(line.slice(line.indexOf("=") + 1)) as unknown;
  } catch {
    return undefined;
  }
}

function facts(now: Shown): HTMLElement {
  const rows: readonly (readonly [string, unknown])[] = [
    ["Version", now.version],
    ["Base directory", now.base_dir],
    ["Settings file", now.file],
    ["Pages", now.status["url"]],
    ["MCP port", now.status["mcp_port"]],
    ["Newer files", now.status["outdated"]],
  ];
  return make("dl.set-facts", {}, ...rows.filter(([, value]) => value !== undefined).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, String(value as string | number))]));
}

function confirmWider(around: HTMLElement, setting: Setting, value: unknown): Promise<boolean> {
  return new Promise((resolve) => {
    const dialog = make("dialog.set-dialog", { "aria-label": "Widen rights" });
    const no = button("Leave it", () => dialog.close("no"));
    const yes = button("Save and agree", () => dialog.close("yes"), "set-primary");
    dialog.append(make("h2", {}, "Widen rights?"), make("p", {}, plainText(setting.about)), make("pre", {}, `${setting.key} = ${JSON.stringify(value)}`), make("p", {}, "All apps of this project, also those you import later, get this right."), make("div.set-row-end", {}, no, yes));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    around.append(dialog);
    dialog.showModal();
    no.focus();
  });
}
