import { afterEach, expect, test, vi } from "vitest";
import { appFrame, useTheme } from "../../src/person/frame";

afterEach(() => {
  delete window.uiTheme;
  document.documentElement.className = "";
  delete document.documentElement.dataset["appTheme"];
});

test("a theme of ours is for page and app, one of the project only for the app", () => {
  const chosen = vi.fn();
  window.uiTheme = chosen;
  useTheme("neon", true);
  const ofApp = document.documentElement.dataset["appTheme"];
  useTheme("paper", false);
  useTheme("dusk", true);
  expect([chosen.mock.calls.flat(), ofApp, document.documentElement.dataset["appTheme"]]).toEqual([["dark", "light", "dusk"], "neon", undefined]);
});

test("the app is told of the theme once it is loaded, and goes to another address only if it changed", () => {
  const frame = appFrame("http://127.0.0.1:1/");
  const post = vi.fn();
  Object.defineProperty(frame.element, "contentWindow", { value: { postMessage: post } });
  document.documentElement.className = "theme-dark";
  document.dispatchEvent(new Event("ui-look"));
  frame.element.dispatchEvent(new Event("load"));
  document.documentElement.dataset["appTheme"] = "neon";
  document.dispatchEvent(new Event("ui-look"));
  frame.go(null);
  frame.go("http://127.0.0.1:2/");
  const names = (post.mock.calls as [{ name: string }][]).map(([message]) => message.name);
  expect([names, frame.element.getAttribute("src")]).toEqual([["dark", "neon"], "http://127.0.0.1:2/"]);
});
