import { expect, test } from "vitest";
import { arranges, roleOf } from "../../src/introspect/roles";

function first(html: string): Element {
  document.body.innerHTML = html;
  return document.body.firstElementChild as Element;
}

test.each([
  ["<div role='tab button'></div>", "tab"],
  ["<input type=checkbox>", "checkbox"],
  ["<input>", "textbox"],
  ["<nav></nav>", "navigation"],
  ["<x-a></x-a>", "generic"],
])("%s has the role %s", (html, role) => {
  expect(roleOf(first(html))).toBe(role);
});

test.each([
  ["<div></div>", true],
  ["<button></button>", false],
  ["<label>Name <input></label>", true],
  ["<label>alone</label>", true],
])("%s is only there for layout: %s", (html, only) => {
  expect(arranges(first(html))).toBe(only);
});
