import { afterEach, describe, expect, it } from "vitest";
import { parseProblems, showProblems, type Problem } from "../../src/page/problems";

const BOOM: Problem = {
  id: "1",
  kind: "action",
  level: "error",
  message: "boom",
  app: "x",
  file: "apps/x/viewdefs/X.DEFAULT.html",
  line: 3,
  expression: 'ui-action="go()"',
  hint: "Did you mean gone()?",
};

const find = (selector: string): HTMLElement => document.querySelector<HTMLElement>(`.ui-problems${selector}`) as HTMLElement;

afterEach(() => showProblems([]));

describe("problems", () => {
  it("are announced with their place, and counted in a button", () => {
    showProblems([BOOM, { ...BOOM, id: "2", message: "bang" }]);

    expect(find(" .ui-problems-open").textContent).toBe("2 problems");
    expect(find(" .ui-problems-news").textContent).toBe("apps/x/viewdefs/X.DEFAULT.html:3: bang Did you mean gone()?");
  });

  it("are listed with expression and hint when the button is pressed", () => {
    showProblems([BOOM]);
    find(" .ui-problems-open").click();

    expect(find(" .ui-problems-panel").hidden).toBe(false);
    expect(find(" .ui-problem").textContent).toBe('Action xboomDid you mean gone()?ui-action="go()"apps/x/viewdefs/X.DEFAULT.html:3');
  });

  it("go away when the list is empty", () => {
    showProblems([BOOM]);
    showProblems([]);

    expect(find("").hidden).toBe(true);
  });

  it("stay away after they were dismissed, until they are gone and come back", () => {
    showProblems([BOOM]);
    find(" .ui-problems-dismiss").click();
    showProblems([BOOM]);
    expect(find("").hidden).toBe(true);

    showProblems([]);
    showProblems([BOOM]);

    expect(find("").hidden).toBe(false);
  });

  it("are closed with Escape", () => {
    showProblems([BOOM]);
    find(" .ui-problems-open").click();
    find(" .ui-problems-panel").dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));

    expect(find(" .ui-problems-panel").hidden).toBe(true);
  });

  it("show markup as text", () => {
    showProblems(parseProblems(JSON.stringify([{ ...BOOM, message: "<img src=x>" }])));

    expect(find(" .ui-problem-message").textContent).toBe("<img src=x>");
  });
});
