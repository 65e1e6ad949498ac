/** The files of a message: how its text refers to them, `[name](attachment:DIGEST)`, and how they are shown. */
import { button, make } from "./dom";
import "./items.css";
import "./files.css";

export interface Attached {
  readonly id: string;
  readonly name: string;
}

/** Loads a stored file. */
export type LoadFile = (id: string) => Promise<Blob>;

const REFERENCE = /\[([^\]\n]{1,80})\]\(attachment:([0-9a-f]{64})\)/g;
const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;
const SHOWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** The text of a message without its references, and the files that it refers to. */
export function parted(text: string): { readonly text: string; readonly files: readonly Attached[] } {
  const files = [...text.matchAll(REFERENCE)].map(([, name = "", id = ""]) => ({ id, name }));
  return files.length > 0 ? { text: text.replace(REFERENCE, "").trimEnd(), files } : { text, files };
}

/** The text of a message with references to its files. */
export function withReferences(text: string, files: readonly Attached[]): string {
  const references = files.map(({ id, name }) => `[${name}](attachment:${id})`).join("\n");
  return [text, references].filter(Boolean).join("\n\n");
}

/** The content as an address that an image may have; null if it is no image, whatever its name says. */
export function pictureOf(content: Blob): Promise<string | null> {
  if (!SHOWN.has(content.type)) {
    return Promise.resolve(null);
  }
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(typeof reader.result === "string" ? reader.result : null));
    reader.addEventListener("error", () => resolve(null));
    reader.readAsDataURL(content);
  });
}

/** The files of a message: images as pictures, others as buttons that save them; names alone where nothing loads them. */
export function fileViews(files: readonly Attached[], load: LoadFile | undefined): HTMLElement {
  return make("div.nlui-attached", {}, ...files.map((file) => (load ? fileView(file, load) : make("span", {}, file.name))));
}

function fileView(file: Attached, load: LoadFile): HTMLElement {
  const gone = (): void => save.replaceChildren(`${file.name}: not stored any more`);
  const save = button(file.name, () => void load(file.id).then((content) => saveAs(file.name, content), gone), "nlui-small");
  save.title = `Save ${file.name}`;
  const whole = make("div.nlui-file.nlui", {}, save);
  if (IMAGE.test(file.name)) {
    void load(file.id)
      .then(pictureOf)
      .then((address) => {
        if (address) {
          whole.prepend(picture(file.name, address));
        }
      }, gone);
  }
  return whole;
}

/** An image that a click shows in full width, and another one small again. */
function picture(name: string, address: string): HTMLElement {
  const shown = make("button.nlui-picture", { type: "button", "aria-expanded": "false", title: "Larger or smaller" }, make("img", { src: address, alt: name }));
  shown.addEventListener("click", () => shown.setAttribute("aria-expanded", String(shown.getAttribute("aria-expanded") === "false")));
  return shown;
}

function saveAs(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
