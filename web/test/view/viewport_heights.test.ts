import { describe, expect, test } from "vitest";
import { fitHeights } from "../../src/view/viewport_heights";

function fitted(html: string): string {
  const content = document.createElement("div");
  content.innerHTML = html;
  fitHeights(content);
  return content.innerHTML;
}

describe("heights of the window in an app's styles", () => {
  test.each([
    ["<style>.a { height: 100vh; color: red }</style>", "<style>.a { height: calc(100 * var(--app-vh, 1vh)); color: red }</style>"],
    ["<style>.a{min-height:calc(50.5dvh - 2px)}</style>", "<style>.a{min-height:calc(calc(50.5 * var(--app-vh, 1dvh)) - 2px)}</style>"],
    ['<p style="max-height: 80vh"></p>', '<p style="max-height: calc(80 * var(--app-vh, 1vh))"></p>'],
  ])("%s become those of its place", (given, expected) => {
    expect(fitted(given)).toBe(expected);
  });

  test.each([
    "<style>.a { position: fixed; height: 100vh }</style>",
    "<style>@media (min-height: 50vh) { .a { color: red } }</style>",
    "<style>.a { width: 10vh; background: url(x100vh.png) }</style>",
    "<style>.line-height { --x: 1 }</style>",
  ])("%s stays as it is", (given) => {
    expect(fitted(given)).toBe(given);
  });
});
