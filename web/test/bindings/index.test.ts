import { expect, test } from "vitest";
import { bindingFor } from "../../src/bindings/index";

test.each([
  ["ui-value", "ui-value", ""],
  ["ui-class-on", "ui-class-", "on"],
  ["ui-event-click", "ui-event-", "click"],
  ["ui-event-keypress-ctrl-s", "ui-event-keypress-", "ctrl-s"],
])("%s is bound by %s with %j", (attribute, binding, argument) => {
  const found = bindingFor(attribute);
  expect([found?.binding.attribute, found?.argument]).toEqual([binding, argument]);
});

test.each(["ui-class-", "ui-values", "class"])("%s is no binding", (attribute) => {
  expect(bindingFor(attribute)).toBeNull();
});
