import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pointing, type Pointing } from "../../../src/person/pointing/pointing";

const ORIGIN = "http://127.0.0.1:1";
const said = vi.fn();
const app = { postMessage: said };
const frame = document.createElement("iframe");
Object.defineProperty(frame, "contentWindow", { value: app });
let open: Pointing;
let answers: () => Promise<Response>;
const sent = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  answers = () => Promise.resolve(new Response("{}"));
  open = pointing(frame, () => ORIGIN, (path, options) => (sent(path, options?.body), answers()), () => undefined);
  document.body.replaceChildren(frame, open.button);
});

afterEach(() => {
  open.stop();
  sent.mockClear();
  said.mockClear();
  vi.useRealTimers();
});

function claim(origin = ORIGIN): void {
  const data = { type: "ui-pointed", page: "p1", box: { x: 1, y: 2, width: 3, height: 4 } };
  dispatchEvent(new MessageEvent("message", { source: app as unknown as Window, origin, data }));
}

const field = (): HTMLTextAreaElement | null => document.querySelector("textarea");

function enter(): void {
  field()?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
}

test("the words are sent with the page, once the card has been visible for a moment; the picture is prepared at once", async () => {
  open.button.click();
  claim();
  (field() as HTMLTextAreaElement).value = "larger";
  enter();
  const early = sent.mock.calls.length;
  vi.advanceTimersByTime(600);
  enter();
  await vi.runAllTimersAsync();
  expect([early, sent.mock.calls, field()]).toEqual([1, [["/point/prepare", "{}"], ["/point", '{"page":"p1","words":"larger"}']], null]);
});

test("a refusal is shown, and the words stay", async () => {
  answers = () => Promise.reject(new Error("What was pointed at is gone"));
  open.button.click();
  claim();
  vi.advanceTimersByTime(600);
  (field() as HTMLTextAreaElement).value = "larger";
  enter();
  await vi.runAllTimersAsync();
  expect([document.querySelector(".point-problem")?.textContent, field()?.value]).toEqual(["What was pointed at is gone", "larger"]);
});

test("nothing is asked without the person's request, nor for another origin", () => {
  claim();
  open.button.click();
  claim("http://127.0.0.1:2");
  expect(field()).toBeNull();
});

test("the button pressed again, and Escape, end the request", () => {
  open.button.click();
  open.button.click();
  open.button.click();
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  expect(said.mock.calls.map(([message]) => (message as { on: boolean }).on)).toEqual([true, false, true, false]);
});

test("keys are explained and go to the app only when it is ready for them", () => {
  const ready = (): boolean => dispatchEvent(new MessageEvent("message", { source: app as unknown as Window, origin: ORIGIN, data: { type: "ui-point-ready" } }));
  const state = (): unknown[] => [document.querySelector(".point-hint") !== null, document.activeElement === frame];
  ready();
  open.button.focus();
  open.button.click();
  const before = state();
  ready();
  expect([before, state()]).toEqual([[false, false], [true, true]]);
});
