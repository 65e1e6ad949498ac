import { beforeEach, expect, test } from "vitest";
import { find } from "../../src/nlui/find";
import type { Item } from "../../src/nlui/state";

const items: Item[] = ["apple", "pear", "Apple pie"].map((text, at) => ({ id: String(at), kind: "user_message", text }));
let shown: number[];
let left: number;
let element: HTMLElement;
const field = (): HTMLInputElement => element.querySelector("input") as HTMLInputElement;
const press = (key: string, more: KeyboardEventInit = {}, target: EventTarget = field()): boolean => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
const type = (text: string): void => {
  field().value = text;
  field().dispatchEvent(new Event("input"));
};

beforeEach(() => {
  [shown, left] = [[], 0];
  ({ element } = find(() => items, (index) => void shown.push(index), () => (left += 1)));
  document.body.replaceChildren(element);
});

test("Ctrl+F opens the search instead of the browser's", () => {
  expect([press("f", { ctrlKey: true }, document), element.hidden, document.activeElement]).toEqual([false, false, field()]);
});

test("matches are found in any case, and Enter goes round them in both directions", () => {
  type("apple");
  press("Enter");
  press("Enter");
  press("Enter", { shiftKey: true });
  expect([shown, element.querySelector("[role=status]")?.textContent]).toEqual([[0, 2, 0, 2], "2 of 2"]);
});

test("nothing found is said, and an empty search says nothing", () => {
  type("plum");
  expect(element.querySelector("[role=status]")?.textContent).toBe("not found");
  type("");
  expect([element.querySelector("[role=status]")?.textContent, shown]).toEqual(["", []]);
});

test("Escape closes it", () => {
  press("f", { metaKey: true }, document);
  press("Escape");
  expect([element.hidden, left]).toEqual([true, 1]);
});
