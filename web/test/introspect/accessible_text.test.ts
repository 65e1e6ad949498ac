import { describe, expect, it } from "vitest";
import golden from "../../../contracts/golden/page-words/words.json";
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

    expect(accessibleTextOf(element)).toEqual({ label: "Remove", leaf: true, wraps: true });
  });

  it("never has half a character", () => {
    expect(wellFormed("a\ud800b😀\udc00")).toBe("a\ufffdb😀\ufffd");
  });
});
