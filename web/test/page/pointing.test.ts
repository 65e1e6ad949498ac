import { afterEach, expect, test, vi } from "vitest";
import { offerPointing } from "../../src/page/pointing";

const parent = { postMessage: vi.fn() };
let stop: () => void = () => undefined;

afterEach(() => {
  stop();
  parent.postMessage.mockClear();
  globalThis.uiPointed = undefined;
});

function open(): HTMLButtonElement {
  document.body.innerHTML = '<main ui-viewdef="Tea.DEFAULT"><button>Pour</button></main>';
  stop = offerPointing(parent as unknown as Window);
  return document.querySelector("button") as HTMLButtonElement;
}

function ask(on: boolean): void {
  dispatchEvent(new MessageEvent("message", { source: parent as unknown as Window, data: { type: "ui-point", on } }));
}

test("Enter points at the focused element once the parent has asked", () => {
  const button = open();
  ask(true);
  button.focus();
  button.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
  expect([globalThis.uiPointed, parent.postMessage.mock.calls]).toMatchObject([
    { element: button, viewdef: "Tea.DEFAULT" },
    [[{ type: "ui-point-ready" }, "*"], [{ type: "ui-pointed", box: { width: 0 } }, "*"]],
  ]);
});

test("Escape cancels, and afterwards keys are the app's again", () => {
  const button = open();
  const typed = vi.fn();
  button.addEventListener("keydown", typed);
  ask(true);
  button.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  button.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  expect([parent.postMessage.mock.calls, typed.mock.calls.length]).toEqual([[[{ type: "ui-point-ready" }, "*"], [{ type: "ui-point-cancelled" }, "*"]], 1]);
});

test("a click that a script makes points at nothing and reaches the app", () => {
  const button = open();
  const clicked = vi.fn();
  button.addEventListener("click", clicked);
  button.dispatchEvent(new MouseEvent("click", { altKey: true, bubbles: true }));
  expect([clicked.mock.calls.length, parent.postMessage.mock.calls]).toEqual([1, []]);
});

test("the ring follows the pointer only while the parent asks", () => {
  const button = open();
  button.getBoundingClientRect = () => new DOMRect(10, 20, 30, 40);
  ask(true);
  button.dispatchEvent(new PointerEvent("pointermove", { bubbles: true }));
  const ring = document.documentElement.lastElementChild as HTMLElement;
  const shown = [ring.style.left, ring.style.height];
  ask(false);
  expect([shown, ring.isConnected]).toEqual([["10px", "40px"], false]);
});
