/** No answer takes a click that was meant for what was there a moment before. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ARMED_AFTER_MS, arm, armOnReturn } from "../../src/person/armed";
import { proposalCard } from "../../src/person/proposal";

let focused = true;

beforeEach(() => {
  focused = true;
  vi.useFakeTimers();
  vi.spyOn(document, "hasFocus").mockImplementation(() => focused);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function page(): { readonly yes: HTMLButtonElement; readonly clicks: () => number; readonly end: () => void } {
  const card = document.createElement("article");
  const yes = document.createElement("button");
  let clicks = 0;
  yes.addEventListener("click", () => (clicks += 1));
  card.append(yes);
  document.body.replaceChildren(card);
  arm(card);
  return { yes, clicks: () => clicks, end: armOnReturn(document.body, () => [card]) };
}

test("a click that brings the person back to the page answers nothing", () => {
  const { yes, clicks, end } = page();
  vi.advanceTimersByTime(ARMED_AFTER_MS);
  yes.click();
  expect(clicks()).toBe(1);

  focused = false; // another window lies over the page
  vi.advanceTimersByTime(1000);
  focused = true; // it closes between two clicks
  yes.click();
  expect([clicks(), yes.disabled]).toEqual([1, true]);

  vi.advanceTimersByTime(ARMED_AFTER_MS);
  yes.click();
  expect(clicks()).toBe(2);
  end();
});

test("a page that gets the focus arms its answers once more", () => {
  const { yes, end } = page();
  vi.advanceTimersByTime(ARMED_AFTER_MS);
  focused = false;
  window.dispatchEvent(new Event("blur"));
  focused = true;
  window.dispatchEvent(new Event("focus"));
  expect(yes.disabled).toBe(true);
  end();
});

test("coming from a frame inside of the page is no return", () => {
  const { yes, clicks, end } = page();
  vi.advanceTimersByTime(ARMED_AFTER_MS);
  window.dispatchEvent(new Event("blur")); // the page has the focus still
  window.dispatchEvent(new Event("focus"));
  yes.click();
  expect(clicks()).toBe(1);
  end();
});

test("a proposed rule takes no click when it has just appeared", () => {
  const proposal = { id: "1", rationale: "", principal: "local", rule: { decision: "allow" } };
  const { element } = proposalCard(proposal, () => Promise.reject(new Error("not asked")), () => undefined);
  const accept = element.querySelector("button");
  expect(accept?.disabled).toBe(true);
  vi.advanceTimersByTime(ARMED_AFTER_MS);
  expect(accept?.disabled).toBe(false);
});
