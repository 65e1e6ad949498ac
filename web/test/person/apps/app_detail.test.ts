import { expect, test, vi } from "vitest";
import { appDetail } from "../../../src/person/apps/app_detail";
import { DETAIL, fakeApi, press, settled } from "./fake_apps";

const acts = { show: vi.fn(), remove: vi.fn() };
const said = (element: HTMLElement): string | null | undefined => element.querySelector(".apps-said")?.textContent;

test("an app is shown with its texts, tests and findings", () => {
  const { element } = appDetail(DETAIL, fakeApi(), acts);
  const sections = [...element.querySelectorAll("summary")].map((one) => one.textContent);
  expect(sections).toEqual(["Requirements", "Tests · 1 of 2 passed", "Known issues · 1", "Audit · 1 to fix, 0 to look at", "Files · 1"]);
  expect([element.querySelector(".apps-text strong")?.textContent, element.textContent.includes("2 kB")]).toEqual(["items", true]);
});

test("the agent is asked, and the page says whether it listens", async () => {
  const api = fakeApi();
  const { element } = appDetail(DETAIL, api, acts);
  const words = element.querySelector("textarea");
  if (words) {
    words.value = " bigger ";
  }
  element.querySelector("form")?.dispatchEvent(new Event("submit"));
  press(element, "Fix 2 problems");
  await settled();
  expect(api.ask.mock.calls).toEqual([["week-plan", "improve", "bigger"], ["week-plan", "fix", ""]]);
  expect(said(element)).toContain("not listening");
});

test("an app without code can only be built", async () => {
  const api = fakeApi();
  const { element } = appDetail({ ...DETAIL, built: false, tests: [], total: 0, requirements: "", violations: [], source: { kind: "git", label: "https://x", at: 0, changed: true } }, api, acts);
  element.querySelector("form")?.dispatchEvent(new Event("submit"));
  await settled();
  expect([api.ask.mock.calls[0]?.[1], element.querySelector<HTMLButtonElement>(".apps-primary")?.disabled, element.querySelector(".apps-origin")?.textContent.includes("changed here")]).toEqual(["build", true, true]);
});

test("a test tells that it passed, which step failed, or why it could not run", async () => {
  const api = fakeApi();
  const { element } = appDetail(DETAIL, api, acts);
  const outcomes: (string | null | undefined)[] = [];
  const failed = { ok: false, steps: 3, failure: { step: 1, error: { message: "no such row" } }, picture: "AAAA" };
  for (const answer of [() => api.test.mockResolvedValueOnce({ ok: true, steps: 3, failure: null, picture: null }), () => api.test.mockResolvedValueOnce(failed), () => api.test.mockRejectedValueOnce(new Error("no browser"))]) {
    answer();
    press(element, "Run test.json");
    await settled();
    outcomes.push(element.querySelector(".apps-result")?.textContent);
  }
  expect([outcomes, said(element), element.querySelectorAll("img").length]).toEqual([["Passed: all 3 steps.", "Step 2 of 3 failedno such row", "Step 2 of 3 failedno such row"], "no browser", 1]);
});

test("progress is shown while the app is built", () => {
  const detail = appDetail(DETAIL, fakeApi(), acts);
  const { element } = detail;
  const stage = element.querySelector<HTMLElement>(".apps-stage");
  detail.progress({ "week-plan": { progress: 20, stage: "designing" } });
  const during = [stage?.hidden, stage?.textContent];
  detail.progress({});
  expect([during, stage?.hidden]).toEqual([[false, "designing"], true]);
});
