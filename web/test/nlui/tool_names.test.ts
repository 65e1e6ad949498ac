import { expect, test } from "vitest";
import { person, sourceOf, toolTitle } from "../../src/nlui/tool_names";

test("a tool is named in words, apart from its source", () => {
  const names = ["shop__ship_order", "shop__shipOrder", "git__getURLOfRepo", "merge", "x__v2", "__", ""];
  expect(names.map((name) => [sourceOf(name), toolTitle(name)])).toEqual([
    ["shop", "Ship order"],
    ["shop", "Ship order"],
    ["git", "Get URL of repo"],
    ["", "Merge"],
    ["x", "V 2"],
    ["", "__"],
    ["", ""],
  ]);
});

test("the person at the page is you", () => {
  expect([person("human"), person("ann")]).toEqual(["you", "ann"]);
});
