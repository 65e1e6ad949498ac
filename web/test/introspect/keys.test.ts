import { beforeEach, expect, test } from "vitest";
import { pressBySynthesis } from "../../src/introspect/keys";

let pressed: string[];

beforeEach(() => {
  pressed = [];
  document.body.innerHTML = "<form><input id=a><button id=b>Go</button></form>";
  document.body.addEventListener("keydown", (event) => pressed.push(`${event.ctrlKey ? "ctrl " : ""}${event.key}`), { once: true });
});

test.each([
  ["ENTER", [], "Enter"],
  ["A", [], "a"],
  ["A", ["SHIFT"], "A"],
  ["S", ["SHORTCUT"], "ctrl s"],
  ["BACK_SLASH", [], "\\"],
])("%s with %j is the key %s", (name, modifiers, key) => {
  pressBySynthesis(name, modifiers);
  expect(pressed).toEqual([key]);
});

test("Enter submits the form of a field and presses a button, unless the page takes it", () => {
  let submitted = 0;
  let clicked = 0;
  const form = document.querySelector("form");
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    submitted += 1;
  });
  document.querySelector("button")?.addEventListener("click", (event) => {
    event.preventDefault();
    clicked += 1;
  });
  document.querySelector("input")?.focus();
  pressBySynthesis("ENTER", []);
  document.querySelector("button")?.focus();
  pressBySynthesis("ENTER", []);
  expect([submitted, clicked]).toEqual([1, 1]);
  document.querySelector("button")?.addEventListener("keydown", (event) => event.preventDefault());
  pressBySynthesis("ENTER", []);
  expect(clicked).toBe(1);
});
