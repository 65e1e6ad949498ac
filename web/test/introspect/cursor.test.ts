import { expect, test } from "vitest";
import { agentCursor } from "../../src/introspect/cursor";

test("the pointer moves to the target, outside of the body, hidden from screen readers", () => {
  const button = document.createElement("button");
  button.getBoundingClientRect = () => new DOMRect(100, 40, 60, 20);
  document.body.replaceChildren(button);
  agentCursor().show(button, "click");
  const pointer = document.documentElement.querySelector<HTMLElement>(":scope > .ui-agent-cursor");
  expect([pointer?.style.transform, pointer?.getAttribute("aria-hidden"), pointer?.dataset["press"]]).toEqual(["translate(130px, 50px)", "true", ""]);
});
