/** The prompt library at the message field: `/` lists the prompts, the arrow keys choose one, Enter inserts it. */
import { field, form, submitButton } from "../nlui/dialog";
import { button, make } from "../nlui/dom";
import { type Fetch, sendJson } from "../person/client";
import "./prompts.css";

export interface Prompt {
  readonly name: string;
  readonly text: string;
}

export interface Prompts {
  list(): Promise<readonly Prompt[]>;
  save(prompt: Prompt): Promise<unknown>;
  remove(name: string): Promise<unknown>;
}

/** The library of the server that sent this page. */
export function promptsAt(path: string, fetch: Fetch): Prompts {
  const one = (name: string): string => `${path}/${encodeURIComponent(name)}`;
  return {
    list: async () => (await (await fetch(path)).json()) as readonly Prompt[],
    save: ({ name, text }) => sendJson(fetch, one(name), { text }, "PUT"),
    remove: (name) => sendJson(fetch, one(name), {}, "DELETE"),
  };
}

export interface PromptMenu {
  readonly element: HTMLElement;
  /** Look at the text of the field; show the prompts that it asks for. */
  update(): void;
  /** Take a key, if the menu is open and has a use for it. */
  key(event: KeyboardEvent): boolean;
}

const MANAGE = "Edit prompts…";
const MOST = 8;
let menus = 0;

export function promptMenu(prompts: Prompts, text: HTMLTextAreaElement, insert: (text: string) => void): PromptMenu {
  const id = `chat-prompts-${String(++menus)}`;
  const list = make("ul.chat-prompts", { id, role: "listbox", "aria-label": "Prompts" });
  list.hidden = true;
  let at = 0;
  let asked = 0;
  const close = (): void => {
    asked++;
    list.hidden = true;
    list.replaceChildren();
    text.removeAttribute("aria-activedescendant");
  };
  const mark = (next: number): void => {
    const options = [...list.children];
    at = (next + options.length) % options.length;
    options.forEach((option, index) => option.setAttribute("aria-selected", String(index === at)));
    text.setAttribute("aria-activedescendant", `${id}-${String(at)}`);
    options[at]?.scrollIntoView({ block: "nearest" });
  };
  const choose = (act: () => void) => (): void => {
    close();
    act();
  };
  const option = (name: string, below: string, index: number, act: () => void): HTMLElement => {
    const made = make("li", { id: `${id}-${String(index)}`, role: "option" }, make("strong", {}, name), below ? make("span", {}, below) : null);
    made.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
    made.addEventListener("click", choose(act));
    return made;
  };
  const show = async (words: string): Promise<void> => {
    const mine = ++asked;
    const known = await prompts.list().catch(() => []);
    if (mine !== asked) {
      return;
    }
    const found = known.filter(({ name }) => name.toLowerCase().includes(words)).slice(0, MOST);
    const rows = found.map((prompt, index) => option(prompt.name, prompt.text.replace(/\s+/g, " ").slice(0, 80), index, () => insert(prompt.text)));
    list.replaceChildren(...rows, option(MANAGE, known.length > 0 ? "" : "Save texts that you write often; / brings them here.", rows.length, () => {
      insert("");
      void managePrompts(prompts);
    }));
    list.hidden = false;
    mark(0);
  };
  text.setAttribute("aria-controls", id);
  text.setAttribute("aria-autocomplete", "list");
  text.addEventListener("blur", close);
  return {
    element: list,
    update() {
      const words = /^\/([^\n/]*)$/.exec(text.value)?.[1];
      if (words === undefined) {
        close();
      } else {
        void show(words.trim().toLowerCase());
      }
    },
    key(event) {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (list.hidden || event.isComposing || (by === undefined && !["Enter", "Tab", "Escape"].includes(event.key))) {
        return false;
      }
      event.preventDefault();
      event.stopPropagation();
      if (by !== undefined) {
        mark(at + by);
      } else if (event.key === "Escape") {
        close();
      } else {
        (list.children[at] as HTMLElement | undefined)?.click();
      }
      return true;
    },
  };
}

/** A dialog to add, change and delete prompts. */
export async function managePrompts(prompts: Prompts): Promise<void> {
  const name = make("input.nlui-field", { maxlength: "60", required: "", autocomplete: "off" });
  const words = make("textarea.nlui-field", { rows: "5", required: "", maxlength: "50000" });
  const list = make("ul.chat-promptlist", { "aria-label": "Saved prompts" });
  const edit = (prompt: Prompt): void => {
    name.value = prompt.name;
    words.value = prompt.text;
    words.focus();
  };
  const row = (prompt: Prompt): HTMLElement => {
    const remove = button("Delete", () => void prompts.remove(prompt.name).then(draw, shown.fail), "nlui-small");
    remove.setAttribute("aria-label", `Delete ${prompt.name}`);
    const change = button(prompt.name, () => edit(prompt), "nlui-talk");
    change.title = "Edit";
    return make("li", {}, change, remove);
  };
  const draw = async (): Promise<void> => {
    const known = await prompts.list();
    list.replaceChildren(...known.map(row));
    list.hidden = known.length === 0;
  };
  const shown = form("Prompts", [list, field("Name", name), field("Text", words)], [submitButton("Save")], () => {
    prompts.save({ name: name.value.trim(), text: words.value }).then(() => {
      shown.say(`Saved. Type / and ${name.value.trim()} in a message.`, true);
      name.value = words.value = "";
      name.focus();
      return draw();
    }, shown.fail).catch(shown.fail);
  }, "Close");
  await draw().catch(shown.fail);
  name.focus();
}
