import { expect, test } from "vitest";
import { fileInputOf } from "../../src/introspect/files";

const find = (css: string): Element | null => fileInputOf(document.querySelector(css));

test.each([
  ["itself", "input"],
  ["its label", "label"],
  ["what holds it", "section"],
  ["a button beside it", "button"],
])("a file input is found by %s", (_, css) => {
  document.body.innerHTML = "<p>x</p><section><div><button>Choose</button></div><label for=f>Files</label><input type=file id=f hidden></section>";
  expect(find(css)).toBe(document.querySelector("input"));
});

test("a file input is found by an element that holds it in its shadow, and by a button there", () => {
  document.body.innerHTML = "<x-upload></x-upload>";
  const root = document.querySelector("x-upload")?.attachShadow({ mode: "open" });
  root?.append(document.createElement("button"), Object.assign(document.createElement("input"), { type: "file" }));
  const input = root?.querySelector("input");
  expect([find("x-upload"), fileInputOf(root?.querySelector("button") ?? null)]).toEqual([input, input]);
});

test("one of several beside a button, or one far away, is not the button's", () => {
  document.body.innerHTML = "<input type=file><main><section><div><b>x</b></div></section></main><p><input type=file><input type=file><i>x</i></p>";
  expect([find("b"), find("i")]).toEqual([null, null]);
});
