import { beforeEach, expect, test, vi } from "vitest";
import { introduce, offerIntroduction, stopsOf } from "../../src/person/introduction";

beforeEach(() => document.body.replaceChildren());

const press = (name: string): void => [...document.querySelectorAll("button")].find((one) => one.textContent === name)?.click();
const title = (): string | null | undefined => document.querySelector(".intro-card h2")?.textContent;

test("the offer is taken or declined", () => {
  const [tour, seen] = [vi.fn(), vi.fn()];
  document.body.append(offerIntroduction(tour, seen));
  press("Show me around");
  document.body.append(offerIntroduction(tour, seen));
  press("Not now");
  expect([tour.mock.calls.length, seen.mock.calls.length, document.body.childElementCount]).toEqual([1, 1, 0]);
});

test("the tour goes forth and back and ends", () => {
  const ended = vi.fn();
  const shown: string[] = [];
  introduce([{ title: "One", text: "1" }, { at: "body", title: "Two", text: "2", before: () => void shown.push("two") }], ended);
  const titles = [title()];
  press("Next");
  titles.push(title());
  document.querySelector("dialog")?.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
  titles.push(title());
  document.querySelector("dialog")?.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
  press("Done");
  expect([titles, shown, ended.mock.calls.length, document.querySelector("dialog")]).toEqual([["One", "Two", "One"], ["two", "two"], 1, null]);
});

test("every stop shows the view that it is about", () => {
  const choose = vi.fn();
  stopsOf(choose).forEach((stop) => stop.before?.());
  expect(choose.mock.calls.flat()).toEqual(["app", "chat", "questions", "console", "apps", "settings"]);
});

test("the offer goes when the tour begins elsewhere", () => {
  document.body.append(offerIntroduction(vi.fn(), vi.fn()));

  introduce(stopsOf(vi.fn()), vi.fn());

  expect(document.querySelector(".intro-offer")).toBeNull();
});
