import { expect, test } from "vitest";
import { errorTips } from "../../src/page/tip";

test("the error of an element is shown while it is pointed at or focused", () => {
  document.body.innerHTML = '<p class="ui-error" ui-error-code="bad" ui-error-description="Not a name"><b>x</b></p><i>other</i>';
  errorTips();
  document.querySelector("b")?.dispatchEvent(new Event("pointerover", { bubbles: true }));
  expect(document.querySelector("[role=tooltip]")?.textContent).toBe("bad Not a name");
  document.querySelector("i")?.dispatchEvent(new Event("focusin", { bubbles: true }));
  expect(document.querySelector("[role=tooltip]")).toBeNull();
});
