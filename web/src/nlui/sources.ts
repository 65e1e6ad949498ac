/** The list of APIs and MCP servers with their health, and the choice of tools for this conversation. */
import { type AddedTarget, api, type Selection, type Source } from "./api";
import { field, form, type Form, submitButton } from "./dialog";
import { button, make } from "./dom";

export interface Sources {
  readonly element: HTMLElement;
  show(open: string, sources: readonly Source[], chosen: Selection): void;
}

export function sources(changed: () => void, problem: (error: unknown) => void): Sources {
  const element = make("div.nlui-sources");
  let conversation = "";
  let all: readonly Source[] = [];
  let selection: Selection = { enabled_sources: null, disabled_tools: [] };

  const choose = (next: Selection): void => {
    api.select(conversation, next).then(() => {
      selection = next;
      draw();
      changed(); // a refresh that began earlier may still arrive with the old selection
    }, problem);
    selection = next;
  };
  const isOn = (name: string): boolean => selection.enabled_sources?.includes(name) ?? true;
  const draw = (): void => {
    const opened = new Set([...element.querySelectorAll<HTMLDetailsElement>("details[open]")].map((one) => one.dataset["name"]));
    element.replaceChildren(...(all.length ? all.map((source) => one(source, opened.has(source.name))) : [nothing()]));
  };
  const one = (source: Source, open: boolean): HTMLElement => {
    const box = make("input", { type: "checkbox", "aria-label": `Use ${source.name}` });
    box.checked = isOn(source.name);
    box.addEventListener("change", () => {
      const names = all.map((other) => other.name).filter((name) => (name === source.name ? box.checked : isOn(name)));
      choose({ ...selection, enabled_sources: names.length === all.length ? null : names });
    });
    const state = source.state ?? "active";
    const health = make("span", { class: `nlui-dot nlui-dot-${state}`, role: "img", "aria-label": state, title: state });
    const count = make("span.nlui-dim", {}, state === "failed" ? "failed" : `${source.tools.length} tools`);
    const details = make("details.nlui-source", {}, make("summary", {}, health, make("span.nlui-name", {}, source.name), count));
    details.dataset["name"] = source.name;
    details.open = open;
    if (source.error) {
      details.append(make("p.nlui-problem", {}, source.error));
    }
    details.append(...source.tools.map((name) => toolBox(name, source.name)), actions(source));
    return make("div.nlui-sourcerow", {}, box, details);
  };
  const toolBox = (name: string, source: string): HTMLElement => {
    const box = make("input", { type: "checkbox" });
    box.checked = !selection.disabled_tools.includes(name);
    box.disabled = !isOn(source);
    box.addEventListener("change", () => {
      const off = selection.disabled_tools.filter((other) => other !== name);
      choose({ ...selection, disabled_tools: box.checked ? off : [...off, name] });
    });
    return make("label.nlui-toolbox", {}, box, make("span", {}, name.replace(/^.*?__/, "")));
  };
  const actions = (source: Source): HTMLElement => {
    const isApi = source.kind === "target";
    const row = make("div.nlui-row");
    if (isApi) {
      row.append(button("Reload", () => void api.reload(source.name).then(changed, problem), "nlui-small"));
    }
    if (isApi || source.kind === "backend") {
      row.append(button("Remove", () => {
        if (confirm(`Remove ${source.name}?`)) {
          void (isApi ? api.removeTarget(source.name) : api.removeServer(source.name)).then(changed, problem);
        }
      }, "nlui-small nlui-danger"));
    }
    return row;
  };
  return {
    element,
    show(open, found, chosen) {
      conversation = open;
      all = found;
      selection = chosen;
      draw();
    },
  };
}

function nothing(): HTMLElement {
  return make("p.nlui-dim", {}, "No APIs or servers yet. Add one here or in nlui.yaml (created by nlui init).");
}

/** Open the dialog that adds an API by its address or its OpenAPI document. */
export function addApi(changed: () => void): void {
  const url = make("input.nlui-field", { type: "url", placeholder: "https://api.example.com" });
  const name = make("input.nlui-field", { autocomplete: "off", placeholder: "derived from the address" });
  const token = make("input.nlui-field", { type: "password", autocomplete: "off", placeholder: "none" });
  const file = make("input.nlui-field", { type: "file", accept: ".json,.yaml,.yml" });
  const shown = form(
    "Add an API",
    [
      field("Address", url, "The OpenAPI document is searched for there. Its own address works too."),
      field("Name", name),
      field("Bearer token", token),
      field("or its OpenAPI document", file),
    ],
    [submitButton("Add")],
    () => void add().catch((error: unknown) => shown.fail(error)),
  );
  const add = async (): Promise<void> => {
    const document = file.files?.[0];
    if (!document && !url.value.trim()) {
      shown.say("Enter an address or choose a file.");
      return;
    }
    shown.say("Looking…", true);
    const auth = token.value ? { auth: { type: "bearer", token: token.value } } : {};
    const given = { base_url: url.value.trim(), ...(name.value.trim() ? { name: name.value.trim() } : {}), ...auth };
    tell(shown, await (document ? api.upload(document) : api.addTarget(given)), changed);
  };
}

/** Open the dialog that mounts an MCP server by its address. */
export function addServer(changed: () => void): void {
  const url = make("input.nlui-field", { type: "url", required: "", placeholder: "https://mcp.example.com/mcp" });
  const name = make("input.nlui-field", { autocomplete: "off", placeholder: "derived from the address" });
  const shown = form(
    "Add an MCP server",
    [
      field("Address", url, "If it wants you to sign in, Accounts shows how. A server that is started by a command belongs into nlui.yaml."),
      field("Name", name),
    ],
    [submitButton("Add")],
    () => void add().catch((error: unknown) => shown.fail(error)),
  );
  const add = async (): Promise<void> => {
    shown.say("Connecting…", true);
    tell(shown, await api.addServer({ url: url.value.trim(), ...(name.value.trim() ? { name: name.value.trim() } : {}) }), changed);
  };
}

/** Close the dialog, or say what is wrong with the source that was added. */
function tell(shown: Form, added: AddedTarget, changed: () => void): void {
  changed();
  if (added.error) {
    shown.say(`${added.name} was added, but: ${added.error}`);
  } else {
    shown.close();
  }
}
