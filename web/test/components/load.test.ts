import { afterEach, expect, test, vi } from "vitest";
import { loadComponents, loadExpected } from "../../src/components/load";

afterEach(() => void vi.restoreAllMocks());

test("components that are defined, and elements of others, load nothing", () => {
  const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
  customElements.define("sl-badge", class extends HTMLElement {});
  loadComponents(new Set(["sl-badge", "x-own"]));
  expect(error).not.toHaveBeenCalled();
});

test("the file of a component is tried once, and a failure is logged", async () => {
  vi.stubGlobal("__VENDOR__", "1");
  const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
  loadComponents(new Set(["sl-tree", "sl-carousel"]));
  await vi.waitFor(() => expect(error).toHaveBeenCalledOnce());
  expect(String(error.mock.calls[0]?.[0])).toBe("shoelace/more.js?v=1 did not load");
});

test("elements that the server expects are loaded before a view shows them", async () => {
  vi.stubGlobal("__ELEMENTS__", "2");
  const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
  document.head.innerHTML = '<link rel="modulepreload" data-element="ui-chart"><link rel="modulepreload">';
  loadExpected(document.head.querySelectorAll("link[data-element]"));
  await vi.waitFor(() => expect(error).toHaveBeenCalledOnce());
  expect(String(error.mock.calls[0]?.[0])).toBe("elements/chart.js?v=2 did not load");
});
