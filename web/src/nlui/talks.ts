/** The list of conversations in the sidebar: search, pins, archive, and a menu for each. */
import { api, type ConversationSummary, type ExportFormat } from "./api";
import { field, form, submitButton } from "./dialog";
import { button, make } from "./dom";

export interface Talks {
  readonly element: HTMLElement;
  /** Load the list and mark the open conversation. */
  refresh(open: string): Promise<void>;
}

export interface TalkActions {
  readonly go: (id: string) => void;
  /** Begin a conversation, in place of one that was deleted. */
  readonly begin: () => void;
  /** Called with the title of the open conversation, empty before its first message. */
  readonly named?: (title: string) => void;
  readonly problem: (error: unknown) => void;
}

/** How long to wait for the next key before searching. */
const TYPING_MS = 150;
const FORMATS: readonly (readonly [string, ExportFormat])[] = [
  ["Markdown", "md"],
  ["JSON", "json"],
  ["Web page", "html"],
];

export function talks({ go, begin, named, problem }: TalkActions): Talks {
  let open = "";
  let turn = 0;
  let archived = false;
  let known: readonly string[] = [];
  const unfolded = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const again = (): void => void refresh(open).catch(problem);
  const search = make("input.nlui-field", { type: "search", placeholder: "Search conversations", "aria-label": "Search conversations" });
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(again, TYPING_MS);
  });
  const list = make("ul.nlui-talks", { "aria-label": "Conversations" });
  const nothing = make("p.nlui-dim", { role: "status" });
  const shelf = button("", () => {
    archived = !archived;
    again();
  }, "nlui-small");
  shelf.hidden = true;

  const chooser = make("input", { type: "file", accept: ".json,application/json", hidden: "", "aria-label": "File with conversations" });
  chooser.addEventListener("change", () => {
    const file = chooser.files?.[0];
    chooser.value = "";
    if (file) {
      bringIn(file).catch(problem);
    }
  });
  const bringIn = async (file: File): Promise<void> => {
    const { conversations, messages } = await api.bringIn(file);
    const count = conversations.length === 1 ? "1 conversation" : `${String(conversations.length)} conversations`;
    await refresh(open);
    nothing.textContent = `Brought in: ${count}, ${String(messages)} messages.`;
    nothing.hidden = false;
    if (conversations.length === 1) {
      go(conversations[0] ?? open);
    }
  };
  const importing = button("Import…", () => chooser.click(), "nlui-small");
  importing.title = "Conversations saved as JSON here, or exported from ChatGPT, Claude, LibreChat or Open WebUI";

  const change = (id: string, wanted: Parameters<typeof api.label>[1]): void => void api.label(id, wanted).then(again, problem);
  const entries = (listed: ConversationSummary, title: string): readonly (readonly [string, () => void])[] => [
    ["Rename…", () => ask("Rename the conversation", "Title", title, (name) => api.label(listed.id, { title: name }), again)],
    ["Folder…", () => ask("Put the conversation into a folder", "Folder", listed.folder ?? "", (folder) => api.label(listed.id, { folder }), again, known)],
    [listed.pinned ? "Unpin" : "Pin", () => change(listed.id, { pinned: !listed.pinned })],
    [listed.archived ? "Bring back" : "Archive", () => change(listed.id, { archived: !listed.archived })],
    ...FORMATS.map(([name, format]) => [`Save as ${name}`, () => void save(listed.id, title, format).catch(problem)] as const),
    [
      "Delete…",
      () => {
        if (confirm(`Delete the conversation “${title}”?`)) {
          api.forget(listed.id).then(() => (listed.id === open ? begin() : again()), problem);
        }
      },
    ],
  ];
  const row = (listed: ConversationSummary): HTMLElement => {
    const title = listed.title || "Untitled";
    const link = button(title, () => go(listed.id), "nlui-talk");
    link.title = title;
    link.setAttribute("aria-current", String(listed.id === open));
    const below = listed.match ? listed.match : timeOf(listed.updated_at);
    if (below) {
      link.append(make("small.nlui-dim", {}, below));
    }
    return make(listed.pinned ? "li.nlui-pinned" : "li", {}, link, menu(title, () => entries(listed, title)));
  };
  /** A folder, folded unless it was opened or has the open conversation. */
  const folder = (name: string, inside: readonly ConversationSummary[]): HTMLElement | null => {
    if (inside.length === 0) {
      return null;
    }
    const shown = make("details.nlui-folder", {}, make("summary", {}, name, make("span.nlui-dim", {}, ` ${String(inside.length)}`)), make("ul.nlui-talks", { "aria-label": name }, ...inside.map(row)));
    shown.open = unfolded.has(name) || inside.some((one) => one.id === open);
    shown.addEventListener("toggle", () => (shown.open ? unfolded.add(name) : unfolded.delete(name)));
    return make("li", {}, shown);
  };
  const refresh = async (now: string): Promise<void> => {
    open = now;
    const mine = ++turn;
    const words = search.value.trim();
    const listed = await api.conversations(words);
    if (mine !== turn) {
      return; // a later request has newer data
    }
    const here = listed.find((one) => one.id === open);
    if (here || words === "") {
      named?.(here?.title ?? "");
    }
    const away = listed.filter((one) => one.archived).length;
    // A search finds archived conversations too.
    const shown = listed.filter((one) => words !== "" || Boolean(one.archived) === (archived && away > 0));
    known = [...new Set(listed.map((one) => one.folder ?? "").filter(Boolean))].sort((one, other) => one.localeCompare(other));
    const loose = shown.filter((one) => words !== "" || !one.folder);
    list.replaceChildren(...(words ? [] : known.map((name) => folder(name, shown.filter((one) => one.folder === name)))).filter((one) => one !== null), ...loose.map(row));
    nothing.textContent = words && shown.length === 0 ? "Nothing found." : "";
    nothing.hidden = nothing.textContent === "";
    shelf.hidden = away === 0 || words !== "";
    shelf.textContent = archived ? "Back to all conversations" : `Archived (${String(away)})`;
  };
  return { element: make("div.nlui-talklist", {}, search, list, nothing, make("div.nlui-row", {}, shelf, importing), chooser), refresh };
}

/** When a conversation was last used, which tells those with the same title apart: the time of today, else the day. */
function timeOf(updated: string): string {
  const when = new Date(updated);
  if (Number.isNaN(when.getTime())) {
    return "";
  }
  const today = when.toDateString() === new Date().toDateString();
  return today ? when.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }) : when.toLocaleDateString([], { dateStyle: "medium" });
}

/** A button that opens a menu; arrow keys move in it, Escape closes it. */
function menu(title: string, entries: () => readonly (readonly [string, () => void])[]): HTMLElement {
  const opener = make("summary.nlui-small", { "aria-label": `More for ${title}`, role: "button" }, "⋯");
  const items = make("div.nlui-menu-items", { role: "menu" });
  const whole = make("details.nlui-more", {}, opener, items);
  const close = (): void => {
    whole.open = false;
  };
  whole.addEventListener("toggle", () => {
    if (!whole.open) {
      return;
    }
    const made = entries().map(([name, act]) => {
      const item = button(name, () => {
        close();
        opener.focus();
        act();
      });
      item.setAttribute("role", "menuitem");
      return item;
    });
    items.replaceChildren(...made);
    made[0]?.focus();
  });
  whole.addEventListener("keydown", (event) => {
    const all = [...items.querySelectorAll("button")];
    const here = all.findIndex((one) => one === document.activeElement);
    const next = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === "Escape") {
      event.stopPropagation();
      close();
      opener.focus();
    } else if (next !== undefined && whole.open) {
      event.preventDefault();
      all[(next + all.length) % all.length]?.focus();
    }
  });
  whole.addEventListener("focusout", (event) => {
    if (event.relatedTarget instanceof Node && !whole.contains(event.relatedTarget)) {
      close();
    }
  });
  return whole;
}

/** Ask for a name, which may be empty if there are `known` ones to choose from. */
function ask(title: string, what: string, now: string, change: (name: string) => Promise<unknown>, done: () => void, known?: readonly string[]): void {
  const name = make("input.nlui-field", { maxlength: "80", ...(known ? { list: "nlui-folders", placeholder: "none" } : { required: "" }) });
  name.value = now;
  const choices = make("datalist", { id: "nlui-folders" }, ...(known ?? []).map((one) => make("option", { value: one })));
  const asked = form(title, [field(what, name), choices], [submitButton("Save")], () => {
    change(name.value).then(() => {
      asked.close();
      done();
    }, (error: unknown) => asked.fail(error));
  });
  name.select();
}

async function save(id: string, title: string, format: ExportFormat): Promise<void> {
  const address = URL.createObjectURL(await api.exported(id, format));
  const link = make("a", { href: address, download: `${title.replace(/[^\p{L}\p{N} _-]/gu, "").trim().slice(0, 60) || id}.${format}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
