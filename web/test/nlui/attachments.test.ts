import { beforeEach, describe, expect, test, vi } from "vitest";
import { type Attached, fileViews, parted } from "../../src/nlui/attached";
import { type Attachments, attachments, takeFiles } from "../../src/nlui/attachments";
import { drafts } from "../../src/nlui/drafts";
import { buttonIn } from "../person/approval";

const DIGEST = "a".repeat(64);
const file = (name: string, size = 3): File => new File(["x".repeat(size)], name, { type: "text/plain" });
const settled = (): Promise<void> => new Promise((done) => setTimeout(done));

describe("the text of a message", () => {
  test("is parted from the files that it refers to", () => {
    expect(parted(`Look\n\n[a.png](attachment:${DIGEST})`)).toEqual({ text: "Look", files: [{ id: DIGEST, name: "a.png" }] });
    expect(parted("[a](https://example.com) [b](attachment:12)")).toEqual({ text: "[a](https://example.com) [b](attachment:12)", files: [] });
  });
});

describe("files of a sent message", () => {
  test("are names where nothing loads them", () => {
    expect(fileViews([{ id: DIGEST, name: "a.png" }], undefined).textContent).toBe("a.png");
  });

  test("are pictures only if their content is an image", async () => {
    const load = (id: string): Promise<Blob> => Promise.resolve(new Blob(["x"], { type: id === DIGEST ? "image/png" : "text/plain" }));
    const shown = fileViews([{ id: DIGEST, name: "a.png" }, { id: "other", name: "b.png" }], load);
    await vi.waitFor(() => expect(shown.querySelectorAll("img")).toHaveLength(1));
    const picture = shown.querySelector<HTMLElement>(".nlui-picture");
    picture?.click();
    expect([shown.querySelector("img")?.alt, picture?.getAttribute("aria-expanded")]).toEqual(["a.png", "true"]);
  });

  test("that are gone say so", async () => {
    const shown = fileViews([{ id: DIGEST, name: "a.png" }], () => Promise.reject(new Error("404")));
    await settled();
    expect(shown.textContent).toBe("a.png: not stored any more");
  });
});

describe("files for a message", () => {
  let stored: string[];
  let problems: string[];
  let refuse: boolean;
  let shown: Attachments;

  beforeEach(() => {
    [stored, problems, refuse] = [[], [], false];
    const store = (one: File): Promise<Attached> => {
      stored.push(one.name);
      return refuse ? Promise.reject(new TypeError("gone")) : Promise.resolve({ id: DIGEST, name: one.name });
    };
    shown = attachments({ store, load: () => Promise.reject(new Error("no")) }, () => undefined, (error) => problems.push((error as Error).message));
    document.body.replaceChildren(shown.list, shown.button);
  });

  test("are uploaded at once and can be removed", async () => {
    shown.add([file("a.txt")]);
    expect([shown.isReady(), shown.list.textContent]).toEqual([false, "a.txtuploading…×"]);
    await settled();
    expect([shown.isReady(), shown.files()]).toEqual([true, [{ id: DIGEST, name: "a.txt" }]]);
    buttonIn(shown.list, "×").click();
    expect([shown.count(), shown.list.hidden]).toEqual([0, true]);
  });

  test("that could not be uploaded stay, and are tried again", async () => {
    refuse = true;
    shown.add([file("a.txt")]);
    await settled();
    expect([shown.isReady(), shown.list.textContent]).toEqual([false, "a.txtThe server cannot be reached. Try again×"]);
    refuse = false;
    buttonIn(shown.list, "Try again").click();
    await settled();
    expect([shown.isReady(), stored]).toEqual([true, ["a.txt", "a.txt"]]);
  });

  test("that are empty, too large or too many are refused by name", () => {
    shown.add([file("empty", 0), file("large", 10 * 1024 * 1024 + 1), ...Array.from({ length: 11 }, (_, at) => file(`f${String(at)}`))]);
    expect([shown.count(), problems]).toEqual([10, ["empty is empty.", "large is larger than 10 MB.", "A message takes 10 files; f10 was left out."]]);
  });

  test("are taken when pasted, but not beside a copied text", () => {
    takeFiles(document.body, (files) => shown.add(files));
    const paste = (types: string[]): void => {
      const event = new Event("paste", { bubbles: true, cancelable: true });
      Object.assign(event, { clipboardData: { types, files: [file("a.txt")] } });
      document.body.dispatchEvent(event);
    };
    paste(["text/plain", "Files"]);
    expect(shown.count()).toBe(0);
    paste(["Files"]);
    expect(shown.count()).toBe(1);
  });
});

describe("a draft", () => {
  test("is kept per conversation until it is empty, and survives rubbish in the storage", () => {
    drafts.keep("c1", { text: "hi", files: [], clientId: "1" });
    expect([drafts.of("c1"), drafts.of("c2")]).toEqual([{ text: "hi", files: [], clientId: "1" }, { text: "", files: [] }]);
    drafts.drop("c1");
    expect(drafts.of("c1").text).toBe("");
    sessionStorage.setItem("nlui-draft:c1", "{");
    expect(drafts.of("c1")).toEqual({ text: "", files: [] });
  });
});
