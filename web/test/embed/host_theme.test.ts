import { expect, test } from "vitest";
import { applyHostTheme } from "../../src/embed/host_theme";

test("the host's theme and colours are taken over as far as it names them", () => {
  applyHostTheme({ theme: "dark", styles: { variables: { "--color-text-primary": "#eee", "--other": "1" } } });
  const { classList, style } = document.documentElement;
  expect([classList.contains("theme-dark"), style.getPropertyValue("--term-text"), style.getPropertyValue("--color-text-primary"), style.getPropertyValue("--term-bg")]).toEqual([true, "var(--color-text-primary)", "#eee", ""]);
  applyHostTheme({ theme: "sepia" });
  expect(classList.contains("theme-dark")).toBe(true);
});
