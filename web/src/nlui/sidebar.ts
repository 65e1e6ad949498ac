/** The sidebar: conversations, tools with their health, and the model. */
import { api, type ModelSettings, person } from "./api";
import { button, make } from "./dom";
import { modelSettings } from "./settings";
import { addApi, addServer, sources } from "./sources";
import { type Usage, usageText } from "./state";
import { type TalkActions, talks } from "./talks";

export interface Sidebar {
  readonly element: HTMLElement;
  /** Reload the lists and mark the open conversation. */
  refresh(open: string): Promise<void>;
  /** Show what this conversation has taken: tokens, and money where prices are configured. */
  showUsage(usage: Usage): void;
}

export interface SidebarActions extends TalkActions {
  readonly prompts: () => void;
}

export function sidebar({ prompts, ...actions }: SidebarActions): Sidebar {
  const { begin, problem } = actions;
  let now = "";
  let turn = 0;
  const again = (): void => void refresh(now).catch(problem);
  const conversations = talks(actions);
  const tools = sources(again, problem);
  const model = make("p.nlui-model");
  const tokens = make("p.nlui-dim");
  const heading = (words: string, ...acts: readonly (readonly [string, () => void])[]): HTMLElement =>
    make("div.nlui-heading", {}, make("h2", {}, words), ...acts.map(([name, act]) => button(name, act, "nlui-small")));
  const themeSwitch = make("select", { "aria-label": "Theme" });
  themeSwitch.dataset["themeSwitch"] = "";
  window.uiLook?.(themeSwitch);
  const element = make(
    "nav.nlui-side",
    { "aria-label": "Conversations and tools" },
    make("p.nlui-brand", {}, "nlui"),
    button("New conversation", begin, "nlui-primary"),
    conversations.element,
    heading("Tools", ["Add an API", () => addApi(again)], ["Add a server", () => addServer(again)]),
    tools.element,
    make("div.nlui-heading", {}, make("h2", {}, "Accounts"), make("a.nlui-small", { href: "/sign-ins", target: "_blank" }, "Show")),
    heading("Prompts", ["Manage", prompts]),
    heading("Model", ["Change", () => void modelSettings(showModel).catch(problem)]),
    model,
    tokens,
    make("h2", {}, "Theme"),
    themeSwitch,
    button("Sign out", () => void person.signOut().catch(problem), "nlui-small"),
  );
  const showModel = (found: ModelSettings): void => {
    const scripted = found.provider === "scripted";
    model.replaceChildren(make("strong", {}, scripted ? "Scripted demo" : found.model), make("br"), make("span.nlui-dim", {}, scripted ? "scripted answers, no key needed" : `${found.provider} · ${found.has_key ? "with a key" : "without a key"}`));
  };
  const refresh = async (open: string): Promise<void> => {
    now = open;
    const mine = ++turn;
    const [found, answering, chosen] = await Promise.all([api.sources(), api.model(), api.selection(open), conversations.refresh(open)]);
    if (mine !== turn) {
      return; // a later request has newer data
    }
    tools.show(open, found, chosen);
    showModel(answering);
  };
  return {
    element,
    refresh,
    showUsage(usage) {
      tokens.textContent = (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0) > 0 ? `This conversation: ${usageText(usage)}` : "";
    },
  };
}
