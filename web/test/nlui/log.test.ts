import { expect, test } from "vitest";
import { log } from "../../src/nlui/log";

test("the list is a feed only while it has messages", () => {
  const shown = log({ edit: null, again: null, resume: null, decide: null, review: null }, document.createElement("p"));
  document.body.replaceChildren(shown.element);
  const roles = (): (string | null)[] => [...shown.element.querySelectorAll(".nlui-items")].map((list) => list.getAttribute("role"));

  shown.show([]);
  const before = roles();
  shown.show([{ id: "i", kind: "notice", text: "Hello" }]);
  expect([before, roles()]).toEqual([[null], ["feed"]]);
  shown.show([]);
  expect(roles()).toEqual([null]);
});
