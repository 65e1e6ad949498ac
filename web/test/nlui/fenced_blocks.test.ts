import { expect, test } from "vitest";
import { richMarkdown } from "../../src/nlui/fenced_blocks";

function html(text: string): HTMLElement {
  const box = document.createElement("div");
  box.append(richMarkdown(text));
  return box;
}

test("a block of rows becomes a table between the text around it", () => {
  const box = html('before\n\n```nlui:table\n[{"id":1,"name":"Ann"},{"id":2,"name":"Bob"}]\n```\n\nafter');
  expect([...box.querySelectorAll("td")].map((cell) => cell.textContent)).toEqual(["1", "Ann", "2", "Bob"]);
  expect([...box.querySelectorAll("p")].map((text) => text.textContent)).toEqual(["before", "after"]);
});

test("an object becomes a card, a list of values badges", () => {
  expect([...html('```nlui:kv\n{"a":1,"rows":[{"x":1}]}\n```').querySelectorAll("dt")].map((term) => term.textContent)).toEqual(["a", "rows"]);
  expect([...html('```nlui:badges\n["x","y"]\n```').querySelectorAll("li")].map((badge) => badge.textContent)).toEqual(["x", "y"]);
});

test.each(['```nlui:table\n{"a":1}\n```', "```nlui:kv\nnot json\n```", '```nlui:badges\n[{"a":1}]\n```'])("%j does not fit its kind and stays a code block", (text) => {
  expect(html(text).querySelector("pre code")).not.toBeNull();
});
