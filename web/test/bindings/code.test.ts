import { afterEach, expect, test, vi } from "vitest";
import { element, openApp } from "../view/open_app";

afterEach(() => void vi.restoreAllMocks());

test("a string is run as code with its element and variable, and an error does not stop the page", () => {
  const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const { say, show } = openApp({ "A.DEFAULT": '<template><p data-ui-b="2 ui-code" ui-code="script"></p></template>' });
  show(8, "A.DEFAULT", [null, null, "element.title = variable.varId + variable.properties.path"]);
  expect(element("p").title).toBe("-10script");
  say([8, 2, "throw new Error('x')"]);
  say([8, 2, ""], [8, 2, 5]);
  expect(error).toHaveBeenCalledOnce();
});
