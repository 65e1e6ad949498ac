import { describe, expect, it } from "vitest";
import { createRefs, rowsOf } from "../../src/introspect/refs";
import { pathOf } from "../../src/introspect/snapshot";

function shown(html: string): Element {
  document.body.innerHTML = html;
  const element = document.body.firstElementChild;
  if (!element) throw new Error(html);
  return element;
}

describe("references", () => {
  it("stay with their element, and their path leads back to it", () => {
    shown("<div><p>one</p><b>two</b><p id=x>three</p></div>");
    const refs = createRefs("a");
    const three = document.querySelector("#x");
    if (!three) throw new Error("not there");

    expect(pathOf(three)).toBe("/stages[0]/scene/root/div[0]/p[1]");
    expect(refs.resolve({ path: pathOf(three) })).toBe(three);
    expect(refs.resolve({ uid: refs.uidOf(three), path: "/stages[0]/scene/root/div[0]" })).toBe(three);
    expect(refs.uidOf(three)).toBe(refs.uidOf(three));
  });

  it("to something removed are gone", () => {
    const element = shown("<p>soon gone</p>");
    const refs = createRefs("a");
    const uid = refs.uidOf(element);
    element.remove();

    expect(refs.resolve({ uid })).toBeNull();
  });

  it("lead to a row of a list by its index", () => {
    const list = shown('<div role=listbox><div role=option aria-posinset=3>c</div><div role=option aria-posinset=4>d</div></div>');
    const refs = createRefs("a");
    expect(refs.resolve({ uid: `${refs.uidOf(list)}:r3` })?.textContent).toBe("d");
    expect(refs.resolve({ uid: `${refs.uidOf(list)}:r9` })).toBeNull();
    expect(rowsOf(list).map(({ index }) => index)).toEqual([2, 3]);
  });

  it("to a path that does not exist are gone", () => {
    shown("<p></p>");
    expect(["/stages[0]/scene/root/p[1]", "/stages[0]/scene/root/p", "p[0]"].map((path) => createRefs("a").resolve({ path }))).toEqual([null, null, null]);
  });
});
