import { expect, test } from "vitest";
import { keyMessage, mouseMessage, textMessage, wheelMessage } from "../../../src/person/hand_over/input";

const SPOT = { x: 3, y: 4 };

test("a press has its button, count and modifiers, a move has none", () => {
  const press = mouseMessage(new MouseEvent("mousedown", { button: 2, detail: 2, ctrlKey: true, shiftKey: true }), SPOT);
  const move = mouseMessage(new MouseEvent("mousemove", { buttons: 1 }), SPOT);
  expect([press, move]).toMatchObject([
    { event: "mousePressed", x: 3, y: 4, button: "right", clickCount: 2, modifiers: 10 },
    { event: "mouseMoved", button: "none", buttons: 1, clickCount: 0 },
  ]);
});

test("a key carries text when it goes down and writes something", () => {
  const of = (type: string, key: string, more = {}): object => keyMessage(new KeyboardEvent(type, { key, code: "X", ...more }));
  const texts = [of("keydown", "a"), of("keyup", "a"), of("keydown", "Enter"), of("keydown", "Tab"), of("keydown", "a", { ctrlKey: true })];
  expect(texts.map((message) => (message as { text?: string }).text)).toEqual(["a", undefined, "\r", undefined, undefined]);
});

test("the wheel and text are passed on", () => {
  expect([wheelMessage(new WheelEvent("wheel", { deltaY: 5 }), SPOT), textMessage("é")]).toMatchObject([{ event: "mouseWheel", deltaY: 5 }, { type: "text", text: "é" }]);
});
