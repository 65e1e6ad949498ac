import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Apps, apps } from "../../../src/person/apps/apps";
import type { Fetch } from "../../../src/person/client";
import { DETAIL, ENTRY, press, settled, STAGED } from "./fake_apps";

const LISTING = { apps: [ENTRY], folder: "/p/apps", displayed: null, listening: true, imports: [{ id: STAGED.id, source: STAGED.source }] };
let answers: Record<string, unknown>;
let calls: string[];
let view: Apps;
const preview = vi.fn();

const fetch: Fetch = (path, options = {}) => {
  const call = `${options.method ?? "GET"} ${path}`;
  calls.push(call);
  const found = answers[call];
  return found === undefined ? Promise.reject(new Error(`no ${call}`)) : Promise.resolve(new Response(JSON.stringify(found)));
};

beforeEach(async () => {
  calls = [];
  answers = { "GET /apps": LISTING, "GET /apps/week-plan": DETAIL, "POST /apps": {}, "POST /apps/week-plan/show": {}, "DELETE /apps/week-plan": { undo: "7" }, "POST /deleted/7": { name: "week-plan" }, [`GET /imports/${STAGED.id}`]: STAGED, "POST /imports/git": STAGED };
  view = apps(fetch, { preview });
  document.body.replaceChildren(view.element);
  view.shown(true);
  await settled();
});

afterEach(() => view.stop());

const choose = async (): Promise<void> => {
  view.element.querySelector<HTMLElement>(".apps-item")?.click();
  await settled();
};

test("an app is opened and shown in the place of its details", async () => {
  await choose();
  press(view.element, "Show");
  await settled();
  expect([view.element.querySelector(".apps-shown b")?.textContent, preview.mock.lastCall]).toEqual(["week-plan", [true]]);
});

test("a deleted app can be brought back", async () => {
  await choose();
  press(view.element, "Delete…");
  press(view.element, "Delete");
  await settled();
  press(view.element, "Undo");
  await settled();
  expect(calls).toContain("POST /deleted/7");
});

test("an import that waits is reviewed", async () => {
  press(view.element, "Waiting for your review: notes.zip");
  await settled();
  expect(view.element.querySelector("h2")?.textContent).toBe("Review before installing");
});

test("a repository is fetched and reviewed; a failure is shown", async () => {
  press(view.element, "Import…");
  await settled();
  view.element.querySelector("form")?.dispatchEvent(new Event("submit"));
  await settled();
  const title = view.element.querySelector("h2")?.textContent;
  delete answers["POST /imports/git"];
  press(view.element, "Import…");
  view.element.querySelector("form")?.dispatchEvent(new Event("submit"));
  await settled();
  expect([title, view.element.querySelector(".apps-form .apps-problem")?.textContent]).toEqual(["Review before installing", "no POST /imports/git"]);
});

test("a new app needs a name and a description", async () => {
  press(view.element, "New app");
  const form = view.element.querySelector("form");
  form?.dispatchEvent(new Event("submit"));
  const problem = view.element.querySelector("form .apps-problem")?.textContent;
  const [name, about] = [form?.querySelector("input"), form?.querySelector("textarea")];
  if (name && about) {
    name.value = "week-plan";
    about.value = "a week";
  }
  form?.dispatchEvent(new Event("submit"));
  await settled();
  await settled();
  expect([problem, calls.includes("POST /apps"), view.element.querySelector("h2")?.textContent]).toEqual(["Say in a sentence what the app should do.", true, "Week plan"]);
});

test("Escape returns to the list, and an error of the server is shown", async () => {
  await choose();
  view.element.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  const left = view.element.querySelector(".apps-empty strong")?.textContent;
  delete answers["GET /apps"];
  view.shown(true);
  await settled();
  expect([left, view.element.querySelector(".apps-problem")?.textContent]).toEqual(["Choose an app", "no GET /apps"]);
});

test("progress reaches the list", () => {
  view.progress({ version: 1, todos: [], apps: { "week-plan": { progress: 10, stage: "" } } });
  expect(view.element.querySelector(".apps-chip")?.textContent).toBe("10 %");
});
