import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Talks, talks } from "../../src/nlui/talks";
import { buttonIn } from "../person/approval";
import { type FakeApi, fakeApi } from "./fake_api";

let api: FakeApi;
let list: Talks;
let log: string[];
let names: string[];

beforeEach(async () => {
  api = fakeApi();
  log = [];
  names = [];
  api.answers["GET /api/conversations"] = [{ id: "c1", title: "Orders", pinned: true }, { id: "c2", title: "" }, { id: "c3", title: "Old", archived: true }];
  list = talks({ go: (id) => void log.push(`go ${id}`), begin: () => void log.push("new"), problem: (error) => void log.push(String(error)), named: (title) => void names.push(title) });
  document.body.replaceChildren(list.element);
  await list.refresh("c1");
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const titles = (): (string | null)[] => [...list.element.querySelectorAll(".nlui-talk")].map((link) => link.firstChild?.textContent ?? null);
const openMenu = (title: string): HTMLElement => {
  const menu = list.element.querySelector<HTMLDetailsElement>(`details:has([aria-label='More for ${title}'])`);
  if (!menu) throw new Error("no menu");
  menu.open = true;
  menu.dispatchEvent(new Event("toggle"));
  return menu;
};

test("the title of the open conversation is told, also while a search leaves it out", async () => {
  await list.refresh("c2");
  const search = list.element.querySelector("input");
  if (!search) throw new Error("no search");
  search.value = "old";
  api.answers["GET /api/conversations?q=old"] = [{ id: "c3", title: "Old" }];
  await list.refresh("c1");
  expect(names).toEqual(["Orders", ""]);
});

test("archived conversations are on a shelf of their own", async () => {
  expect(titles()).toEqual(["Orders", "Untitled"]);
  buttonIn(list.element, "Archived (1)").click();
  await vi.waitFor(() => expect(titles()).toEqual(["Old"]));
  buttonIn(list.element, "Back to all conversations").click();
  await vi.waitFor(() => expect(titles()).toEqual(["Orders", "Untitled"]));
});

test("a search shows where the words stand, in archived conversations too", async () => {
  api.answers["GET /api/conversations?q=milk"] = [{ id: "c3", title: "Old", archived: true, match: "buy milk" }];
  const field = list.element.querySelector("input") as HTMLInputElement;
  field.value = " milk ";
  field.dispatchEvent(new Event("input"));
  await vi.waitFor(() => expect(list.element.querySelector("small")?.textContent).toBe("buy milk"));
  api.answers["GET /api/conversations?q=xyz"] = [];
  field.value = "xyz";
  field.dispatchEvent(new Event("input"));
  await vi.waitFor(() => expect(list.element.textContent).toContain("Nothing found."));
});

test("the time of the last message tells conversations with the same title apart", async () => {
  const today = new Date();
  const one = (id: string, updated_at: string): object => ({ id, title: "Show the orders", updated_at });
  api.answers["GET /api/conversations"] = [one("c1", today.toISOString()), one("c2", "2020-02-03T10:00:00Z")];
  await list.refresh("c1");
  const said = [...list.element.querySelectorAll("small")].map((small) => small.textContent);
  expect(said).toEqual([today.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }), new Date("2020-02-03T10:00:00Z").toLocaleDateString([], { dateStyle: "medium" })]);
});

test("pin, archive and rename are sent", async () => {
  buttonIn(openMenu("Orders"), "Unpin").click();
  buttonIn(openMenu("Orders"), "Archive").click();
  buttonIn(openMenu("Orders"), "Rename…").click();
  const name = document.querySelector("dialog input") as HTMLInputElement;
  expect(name.value).toBe("Orders");
  name.value = "All orders";
  document.querySelector("dialog form")?.dispatchEvent(new Event("submit", { cancelable: true }));
  await vi.waitFor(() => expect(document.querySelector("dialog")).toBeNull());
  expect(api.sent).toEqual([
    ["PATCH", "/api/conversations/c1", { pinned: false }],
    ["PATCH", "/api/conversations/c1", { archived: true }],
    ["PATCH", "/api/conversations/c1", { title: "All orders" }],
  ]);
});

test("deleting the open conversation begins a new one", async () => {
  vi.stubGlobal("confirm", () => true);
  buttonIn(openMenu("Orders"), "Delete…").click();
  await vi.waitFor(() => expect(log).toEqual(["new"]));
  expect(api.sent).toEqual([["DELETE", "/api/conversations/c1", {}]]);
});

test("a menu is operated by keys and closed by Escape", () => {
  const menu = openMenu("Orders") as HTMLDetailsElement;
  const key = (name: string): boolean | undefined => document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
  expect(document.activeElement?.textContent).toBe("Rename…");
  key("ArrowUp");
  expect(document.activeElement?.textContent).toBe("Delete…");
  key("ArrowDown");
  expect(document.activeElement?.textContent).toBe("Rename…");
  key("Escape");
  expect([menu.open, document.activeElement?.tagName]).toEqual([false, "SUMMARY"]);
});

test("conversations in folders are folded, unless one is open, and are moved by name", async () => {
  api.answers["GET /api/conversations"] = [{ id: "c1", title: "Orders", folder: "Work" }, { id: "c2", title: "Trip", folder: "Home" }, { id: "c3", title: "Loose" }];
  await list.refresh("c1");
  const folders = [...list.element.querySelectorAll<HTMLDetailsElement>(".nlui-folder")];
  expect(folders.map((one) => [one.querySelector("summary")?.textContent, one.open])).toEqual([["Home 1", false], ["Work 1", true]]);
  expect(titles()).toEqual(["Trip", "Orders", "Loose"]);
  buttonIn(openMenu("Loose"), "Folder…").click();
  expect([...document.querySelectorAll("datalist option")].map((one) => one.getAttribute("value"))).toEqual(["Home", "Work"]);
  const name = document.querySelector("dialog input") as HTMLInputElement;
  name.value = "Work";
  document.querySelector("dialog form")?.dispatchEvent(new Event("submit", { cancelable: true }));
  await vi.waitFor(() => expect(document.querySelector("dialog")).toBeNull());
  expect(api.sent).toEqual([["PATCH", "/api/conversations/c3", { folder: "Work" }]]);
  api.answers["GET /api/conversations?q=trip"] = [{ id: "c2", title: "Trip", folder: "Home", match: "a trip" }];
  (list.element.querySelector("input") as HTMLInputElement).value = "trip";
  await list.refresh("c1");
  expect([titles(), list.element.querySelector(".nlui-folder")]).toEqual([["Trip"], null]);
});

test("a file with conversations is brought in, and a single one opened", async () => {
  api.answers["POST /api/conversations/import"] = { conversations: ["c9"], messages: 4 };
  const chooser = list.element.querySelector("input[type=file]") as HTMLInputElement;
  Object.defineProperty(chooser, "files", { value: [new File(["{}"], "saved.json")] });
  chooser.dispatchEvent(new Event("change"));
  await vi.waitFor(() => expect(log).toEqual(["go c9"]));
  expect(list.element.textContent).toContain("Brought in: 1 conversation, 4 messages.");
});
