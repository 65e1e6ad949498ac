import { beforeEach, expect, test } from "vitest";
import { allRoots, composedChildren, composedContains, composedParent, deepFocus } from "../../src/introspect/dom";

let host: HTMLElement;
let inner: HTMLElement;

beforeEach(() => {
  document.body.innerHTML = "<x-host><b slot>light</b><script></script></x-host>";
  host = document.querySelector("x-host") as HTMLElement;
  const shadow = host.attachShadow({ mode: "open" });
  shadow.innerHTML = "<input><style></style>";
  inner = shadow.querySelector("input") as HTMLElement;
});

test("a shadow root's children come before the light ones, without scripts and styles", () => {
  expect(composedChildren(host).map((child) => child.localName)).toEqual(["input", "b"]);
});

test("parents are found through shadow roots", () => {
  expect([composedParent(inner), composedContains(document.body, inner), composedContains(inner, host)]).toEqual([host, true, false]);
});

test("the focus is found inside a shadow root", () => {
  inner.focus();
  expect(deepFocus()).toBe(inner);
});

test("all roots are the document and its shadow roots", () => {
  expect(allRoots()).toEqual([document, host.shadowRoot]);
});
