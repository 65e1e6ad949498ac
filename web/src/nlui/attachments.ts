/** Files for the next message: chosen, pasted or dropped, uploaded at once, and shown above the message field. */
import type { Files } from "../chat/composer";
import { reasonOf } from "../person/client";
import { type Attached, type LoadFile, pictureOf } from "./attached";
import { button, make } from "./dom";

export interface Attachments extends Files {
  /** The uploaded files. */
  files(): readonly Attached[];
  /** Show these files, instead of those that there are. */
  set(files: readonly Attached[]): void;
  add(files: Iterable<File>): void;
}

export interface Storage {
  readonly store: (file: File) => Promise<Attached>;
  readonly load: LoadFile;
}

/** A file of the list; without `stored` it is being uploaded, or could not be. */
interface Entry {
  readonly name: string;
  readonly file: File | null;
  readonly row: HTMLElement;
  stored: Attached | null;
}

const MOST = 10;
const MAX_MB = 10;

/** `changed` is called when files come, go or have been uploaded; `problem` says why a file was not taken. */
export function attachments({ store, load }: Storage, changed: () => void, problem: (error: unknown) => void): Attachments {
  let entries: Entry[] = [];
  const list = make("ul.nlui-files.nlui", { "aria-label": "Attached files" });
  const input = make("input", { type: "file", multiple: "", hidden: "", "aria-label": "Files to attach" });
  input.addEventListener("change", () => {
    add([...(input.files ?? [])]);
    input.value = "";
  });
  const open = button("Attach", () => input.click(), "nlui-attach");
  open.title = "Attach files, or paste them, or drop them here";

  const draw = (): void => {
    list.hidden = entries.length === 0;
    list.replaceChildren(...entries.map((entry) => entry.row));
    changed();
  };
  const entryOf = (name: string, file: File | null, stored: Attached | null): Entry => {
    const remove = button("×", () => {
      entries = entries.filter((one) => one !== entry);
      draw();
      open.focus();
    });
    remove.setAttribute("aria-label", `Remove ${name}`);
    const entry = { name, file, stored, row: make("li", {}, make("span.nlui-name", {}, name), make("span.nlui-dim", { role: "status" }), remove) };
    void preview(entry);
    return entry;
  };
  const preview = async (entry: Entry): Promise<void> => {
    const content = entry.file ?? (entry.stored ? await load(entry.stored.id).catch(() => null) : null);
    const address = content ? await pictureOf(content) : null;
    if (address) {
      entry.row.prepend(make("img", { src: address, alt: "" }));
    }
  };
  const upload = async (entry: Entry, file: File): Promise<void> => {
    const state = entry.row.querySelector("[role=status]");
    state?.replaceChildren("uploading…");
    try {
      entry.stored = await store(file);
      state?.replaceChildren();
    } catch (error) {
      state?.replaceChildren(`${reasonOf(error)} `, button("Try again", () => void upload(entry, file), "nlui-small"));
    }
    changed();
  };
  const refusal = (file: File): string => {
    if (entries.length >= MOST) {
      return `A message takes ${String(MOST)} files; ${file.name} was left out.`;
    }
    if (file.size === 0) {
      return `${file.name} is empty.`;
    }
    return file.size > MAX_MB * 1024 * 1024 ? `${file.name} is larger than ${String(MAX_MB)} MB.` : "";
  };
  const add = (given: Iterable<File>): void => {
    for (const file of given) {
      const why = refusal(file);
      if (why) {
        problem(new Error(why));
        continue;
      }
      const entry = entryOf(file.name || "file", file, null);
      entries.push(entry);
      void upload(entry, file);
    }
    draw();
  };
  draw();
  return {
    button: make("span.nlui-attaching", {}, open, input),
    list,
    count: () => entries.length,
    isReady: () => entries.every((entry) => entry.stored),
    files: () => entries.flatMap((entry) => (entry.stored ? [entry.stored] : [])),
    set(files) {
      entries = files.map((file) => entryOf(file.name, null, file));
      draw();
    },
    add,
  };
}

/** Take files that are pasted into or dropped onto an element. */
export function takeFiles(element: HTMLElement, add: (files: Iterable<File>) => void): void {
  const filesOf = (data: DataTransfer | null): File[] => [...(data?.files ?? [])];
  const take = (event: Event, data: DataTransfer | null): void => {
    const files = filesOf(data);
    if (files.length > 0) {
      event.preventDefault();
      add(files);
    }
  };
  element.addEventListener("paste", (event) => {
    // A copied part of a document comes as text and as a picture of it.
    if (!event.clipboardData?.types.includes("text/plain")) {
      take(event, event.clipboardData);
    }
  });
  element.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")) {
      event.preventDefault();
      element.classList.add("nlui-dropping");
    }
  });
  element.addEventListener("dragleave", () => element.classList.remove("nlui-dropping"));
  element.addEventListener("drop", (event) => {
    element.classList.remove("nlui-dropping");
    take(event, event.dataTransfer);
  });
}
