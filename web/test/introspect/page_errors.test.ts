import { expect, test, vi } from "vitest";

import { collectErrors } from "../../src/introspect/page_errors";

test("errors are collected once, and still reach the console", () => {
  const written = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const take = collectErrors();

  console.error("not found", { id: 1 }, new Error("why"));
  dispatchEvent(Object.assign(new Event("error"), { message: "x is not defined" }));
  dispatchEvent(Object.assign(new Event("unhandledrejection"), { reason: new Error("late") }));

  expect(take()).toEqual(['console: not found {"id":1} Error: why', "error: x is not defined", "error: Error: late"]);
  expect(take()).toEqual([]);
  expect(written).toHaveBeenCalledTimes(1);
});
