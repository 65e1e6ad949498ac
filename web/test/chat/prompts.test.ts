import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { composer } from "../../src/chat/composer";
import { managePrompts, type Prompt, type Prompts } from "../../src/chat/prompts";
import { buttonIn } from "../person/approval";

let kept: Map<string, string>;
let sent: string[];
let text: HTMLTextAreaElement;

const prompts: Prompts = {
  list: () => Promise.resolve([...kept].map(([name, words]): Prompt => ({ name, text: words }))),
  save: ({ name, text: words }) => Promise.resolve(kept.set(name, words)),
  remove: (name) => Promise.resolve(kept.delete(name)),
};
const type = (value: string): void => {
  text.value = value;
  text.dispatchEvent(new Event("input"));
};
const press = (key: string): void => void text.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const offered = (): (string | null)[] => [...document.querySelectorAll("[role=option] strong")].map((name) => name.textContent);

beforeEach(() => {
  kept = new Map([["Plan", "Make a plan."], ["Review", "Review this."]]);
  sent = [];
  document.body.replaceChildren(composer((content) => void sent.push(content), { prompts }).element);
  text = document.querySelector("textarea") as HTMLTextAreaElement;
});

afterEach(() => {
  vi.restoreAllMocks();
});

test("a slash offers the prompts, and Enter inserts the chosen one instead of sending", async () => {
  type("/");
  await vi.waitFor(() => expect(offered()).toEqual(["Plan", "Review", "Edit prompts…"]));
  press("ArrowDown");
  expect(document.getElementById(text.getAttribute("aria-activedescendant") ?? "")?.textContent).toContain("Review");
  press("Enter");
  expect([text.value, sent]).toEqual(["Review this.", []]);
  expect(document.querySelector<HTMLElement>("[role=listbox]")?.hidden).toBe(true);
});

test("further letters narrow the list, and Escape leaves the text as it is", async () => {
  type("/pl");
  await vi.waitFor(() => expect(offered()).toEqual(["Plan", "Edit prompts…"]));
  press("Escape");
  expect(text.value).toBe("/pl");
  expect(document.querySelector<HTMLElement>("[role=listbox]")?.hidden).toBe(true);
});

test("a path is no prompt", async () => {
  type("/etc/hosts");
  await Promise.resolve();
  press("Enter");
  expect(sent).toEqual(["/etc/hosts"]);
});

test("prompts are added, changed and deleted in their dialog", async () => {
  await managePrompts(prompts);
  const dialog = document.querySelector("dialog") as HTMLDialogElement;
  buttonIn(dialog, "Plan").click();
  (dialog.querySelector("textarea") as HTMLTextAreaElement).value = "Plan it.";
  dialog.querySelector("form")?.dispatchEvent(new Event("submit", { cancelable: true }));
  await vi.waitFor(() => expect(kept.get("Plan")).toBe("Plan it."));
  dialog.querySelector<HTMLButtonElement>("[aria-label='Delete Review']")?.click();
  await vi.waitFor(() => expect([...kept.keys()]).toEqual(["Plan"]));
});
