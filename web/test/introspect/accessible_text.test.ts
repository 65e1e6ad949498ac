import { describe, expect, it } from "vitest";
import golden from "../../../contracts/golden/page-words/words.json";
import { createRefs } from "../../src/introspect/refs";
import { pathOf } from "../../src/introspect/snapshot";
import { wellFormed, accessibleTextOf } from "../../src/introspect/accessible_text";

function shown(html: string): Element {
  document.body.innerHTML = html;
  const element = document.body.firstElementChild;
  if (!element) throw new Error(html);
  return element;
}

describe("what an element says", () => {
  it.each(golden)("$html", ({ html, words }) => {
    expect(accessibleTextOf(shown(html))).toEqual(words);
  });

  it("is the label of a component that shows only an icon", () => {
    const element = shown("<x-icon-button label=Remove></x-icon-button>");
    element.attachShadow({ mode: "open" }).innerHTML = "<button></button>";

    expect(accessibleTextOf(element)).toEqual({ label: "Remove", leaf: true });
  });

  it("never has half a character", () => {
    expect(wellFormed("a\ud800b😀\udc00")).toBe("a\ufffdb😀\ufffd");
  });
});

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
});
