import { expect, test } from "vitest";
import { gridKey } from "../../../src/elements/table/keys";

const at = { row: 2, column: 1, rows: 10, columns: 3, page: 4 };
const press = (key: string, held: object = {}) => gridKey({ key, ctrlKey: false, metaKey: false, altKey: false, ...held }, at);

test("arrows, pages and ends move inside the grid, up to the heading", () => {
  expect(press("ArrowUp")).toEqual({ kind: "move", row: 1, column: 1 });
  expect(press("PageDown")).toEqual({ kind: "move", row: 6, column: 1 });
  expect(press("End", { ctrlKey: true })).toEqual({ kind: "move", row: 9, column: 2 });
  expect(gridKey({ key: "ArrowUp", ctrlKey: false, metaKey: false, altKey: false }, { ...at, row: 0 })).toEqual({ kind: "move", row: -1, column: 1 });
  expect(gridKey({ key: "ArrowLeft", ctrlKey: false, metaKey: false, altKey: false }, { ...at, column: 0 })).toEqual({ kind: "move", row: 2, column: 0 });
});

test("other keys stay with the browser", () => {
  expect(press("x")).toBeNull();
  expect(press("ArrowUp", { altKey: true })).toBeNull();
  expect(press(" ")).toEqual({ kind: "select" });
  expect(press("c", { metaKey: true })).toEqual({ kind: "copy" });
  expect(press("ArrowDown", { altKey: true })).toEqual({ kind: "menu" });
});
