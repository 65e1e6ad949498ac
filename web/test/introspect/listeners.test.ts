import { beforeEach, describe, expect, it } from "vitest";

import { isListening, setListening } from "../../src/introspect/accessible_text";
import { innermostListening } from "../../src/introspect/listeners";

describe("elements that scripts listen to", () => {
  beforeEach(() => {
    document.body.innerHTML = "<div id=outer><span id=inner>x</span></div><div id=form><input></div>";
  });

  const numbers = (...ids: string[]) => {
    const all = [...document.querySelectorAll("*")];
    return { count: all.length, found: ids.map((id) => all.findIndex((element) => element.id === id)) };
  };

  it("are the innermost ones without controls", () => {
    const { count, found } = numbers("outer", "inner", "form");
    expect([...innermostListening(count, [0, ...found])].map((element) => element.id)).toEqual(["inner"]);
  });

  it("are none if the page has changed since they were counted", () => {
    const { count, found } = numbers("inner");
    expect(innermostListening(count + 1, found).size).toBe(0);
  });

  it("are known while a page is read", () => {
    const { count, found } = numbers("inner");
    setListening(innermostListening(count, found));
    expect(["inner", "outer"].map((id) => isListening(document.getElementById(id) as Element))).toEqual([true, false]);
  });
});
