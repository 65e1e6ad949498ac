/** The side of the page: conversations, tools with their health, and the model. */
import { api, type Listed, type Selection, type Source } from "./api";
import { button, make } from "./dom";

export interface Side {
  readonly element: HTMLElement;
  /** Show which conversation is open, and load the lists again. */
  refresh(open: string): Promise<void>;
}

export function side(go: (id: string) => void, begin: () => void, problem: (error: unknown) => void): Side {
  const talks = make("ul.nlui-talks");
  const tools = make("div.nlui-sources");
  const model = make("p.nlui-dim");
  const element = make(
    "nav.nlui-side",
    { "aria-label": "Conversations and tools" },
    make("h1", {}, "nlui"),
    button("New conversation", begin, "nlui-primary"),
    talks,
    make("h2", {}, "Tools"),
    tools,
    make("h2", {}, "Model"),
    model,
  );

  const talk = (listed: Listed, open: string): HTMLElement => {
    const link = button(listed.title || "Untitled", () => go(listed.id), "nlui-talk");
    link.setAttribute("aria-current", String(listed.id === open));
    const remove = button("×", () => {
      if (confirm(`Delete the conversation “${listed.title}”?`)) {
        api.forget(listed.id).then(() => (listed.id === open ? begin() : refresh(open)), problem);
      }
    }, "nlui-small");
    remove.setAttribute("aria-label", `Delete ${listed.title}`);
    return make("li", {}, link, remove);
  };
  const source = (one: Source, chosen: Selection, open: string): HTMLElement => {
    const box = make("input", { type: "checkbox" });
    box.checked = chosen.enabled_sources === null || chosen.enabled_sources.includes(one.name);
    box.addEventListener("change", () => {
      const names = [...tools.querySelectorAll<HTMLInputElement>("input")].filter((other) => other.checked).map((other) => other.name);
      api.select(open, { ...chosen, enabled_sources: names }).catch(problem);
    });
    box.name = one.name;
    const health = one.error ? `failed: ${one.error}` : `${one.tools.length} tools`;
    return make("label.nlui-source", { title: one.tools.join("\n") }, box, make("span", {}, one.name), make("span", { class: one.error ? "nlui-error" : "nlui-dim" }, health));
  };
  const refresh = async (open: string): Promise<void> => {
    const [listed, sources, facts, chosen] = await Promise.all([api.conversations(), api.sources(), api.model(), api.selection(open)]);
    talks.replaceChildren(...listed.map((one) => talk(one, open)));
    tools.replaceChildren(...(sources.length ? sources.map((one) => source(one, chosen, open)) : [make("p.nlui-dim", {}, "No APIs or servers yet. `nlui init` writes an nlui.yaml to start from.")]));
    model.textContent = facts.provider === "scripted" ? "scripted demo (no key needed)" : `${facts.model} (${facts.provider})`;
  };
  return { element, refresh };
}
