import { expect, test, vi } from "vitest";
import { importReview, verdict } from "../../../src/person/apps/import_review";
import { fakeApi, press, settled, STAGED } from "./fake_apps";

const acts = { installed: vi.fn(), discarded: vi.fn() };
const install = (element: HTMLElement): HTMLButtonElement | undefined => [...element.querySelectorAll("button")].find((one) => one.textContent === "Install");

function check(element: HTMLElement, words: string): void {
  const label = [...element.querySelectorAll("label")].find((one) => one.textContent.includes(words));
  const box = label?.querySelector("input");
  if (box) {
    box.checked = true;
    box.dispatchEvent(new Event("change"));
  }
}

test("the worst that was found decides the verdict", () => {
  const [ability] = STAGED.apps[0]?.abilities ?? [];
  const at = (level: "danger" | "warning" | "info"): string => verdict(ability ? [{ ...ability, level }] : []).level;
  expect([at("danger"), at("warning"), at("info"), verdict([]).words]).toEqual(["danger", "warning", "good", "Nothing unusual was found."]);
});

test("an app is installed only after the person says that they read it", async () => {
  vi.useFakeTimers();
  const api = fakeApi();
  const element = importReview(STAGED, api, acts);
  const before = install(element)?.disabled;
  check(element, "I have read");
  const armed = install(element)?.disabled;
  vi.advanceTimersByTime(600);
  vi.useRealTimers();
  press(element, "Install");
  await settled();
  expect([before, armed, api.accept.mock.calls, acts.installed.mock.calls]).toEqual([true, true, [[STAGED.id, "notes", "notes", false]], [["notes", false]]]);
});

test("a place opens its file with the line marked, and odd characters written out", async () => {
  const api = fakeApi();
  const element = importReview(STAGED, api, acts);
  document.body.replaceChildren(element);
  press(element, "app.lua:2");
  await settled();
  const line = element.querySelector(".apps-wanted");
  expect([line?.textContent, line?.getAttribute("data-level"), api.file.mock.calls[0]]).toEqual(["2os.execute()\\u202e", "warning", [STAGED.id, "notes/app.lua"]]);
});

test("a taken name is replaced only if the person says so", () => {
  vi.useFakeTimers();
  const taken = { ...STAGED, apps: STAGED.apps.map((app) => ({ ...app, exists: true })) };
  const element = importReview(taken, fakeApi(), acts);
  check(element, "I have read");
  vi.advanceTimersByTime(600);
  const blocked = install(element)?.disabled;
  check(element, "Replace the app");
  vi.useRealTimers();
  expect([blocked, install(element)?.disabled]).toEqual([true, false]);
});

test("throwing away tells the server, and a refusal is shown", async () => {
  const api = fakeApi();
  api.discard.mockRejectedValueOnce(new Error("gone"));
  const element = importReview(STAGED, api, acts);
  press(element, "Throw away");
  await settled();
  const problem = element.querySelector(".apps-problem")?.textContent;
  press(element, "Throw away");
  await settled();
  expect([problem, acts.discarded.mock.calls.length]).toEqual(["gone", 1]);
});
