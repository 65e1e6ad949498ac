import { expect, test } from "vitest";
import { createRefs, StaleRowError } from "../../src/introspect/refs";
import { describeRows, renderRow, renderTarget } from "../../src/introspect/rows";

function shown(html: string): Element {
  document.body.innerHTML = html;
  const element = document.body.firstElementChild;
  if (!element) throw new Error(html);
  return element;
}

const TABLE = `<table><thead><tr><th id=name>Name</th><th>Price</th></tr></thead><tbody>
  <tr data-id=7><td>Tea</td><td>4</td></tr><tr data-id=8 aria-selected=true><td>Rice</td><td>2</td></tr></tbody></table>`;

test("a table of data is described by its columns, rows and selection", () => {
  const refs = createRefs("a");
  expect(describeRows(refs, shown(TABLE), false)).toMatchObject({
    kind: "table", itemsCount: 2, columns: [{ id: "name", text: "Name" }, { id: "col1", text: "Price" }],
    visibleRange: { from: 0, to: 1 }, selectedIndices: [1], focusedIndex: null,
    visibleCells: [{ index: 0, cells: [{ columnId: "name", text: "Tea" }, { columnId: "col1", text: "4" }] }, { index: 1 }],
  });
  expect(describeRows(refs, shown(TABLE), true)).toMatchObject({ visibleCells: [] });
});

test("the rows of a tree have a level and say whether they are open and checked", () => {
  const tree = shown("<div role=tree><div role=treeitem aria-setsize=9 aria-posinset=1 aria-level=2 aria-expanded=true aria-checked=false>Fruit</div></div>");
  expect(describeRows(createRefs("a"), tree, false)).toMatchObject({
    kind: "tree", itemsCount: 9, visibleCells: [{ index: 0, level: 1, expanded: true, checked: false, cells: [{ columnId: null, text: "Fruit" }] }],
  });
});

test("a table that lays out a form, and an element that is no list, have no rows", () => {
  const refs = createRefs("a");
  expect(describeRows(refs, shown("<table><tbody><tr><td>Name</td></tr></tbody></table>"), false)).toBeNull();
  expect(describeRows(refs, shown("<p>text</p>"), false)).toBeNull();
});

test("a cell and a header are found by column, by its id or its text", () => {
  const table = shown(TABLE);
  const refs = createRefs("a");
  const uid = refs.uidOf(table);
  const texts = [`${uid}:r1:cname`, `${uid}:r0:cPrice`, `${uid}:hPrice`, `${uid}:hname`].map((part) => refs.resolve({ uid: part })?.textContent);
  expect(texts).toEqual(["Rice", "4", "Price", "Name"]);
  expect([refs.resolve({ uid: `${uid}:r0:cnone` }), refs.resolve({ uid: `${uid}:hnone` })]).toEqual([null, null]);
});

test("a row that was reported is stale once another item is in its place", () => {
  const table = shown(TABLE);
  const refs = createRefs("a");
  const row = `${refs.uidOf(table)}:r0`;
  describeRows(refs, table, false);
  table.querySelector("[data-id='7']")?.setAttribute("data-id", "9");
  expect(refs.resolve({ uid: row })?.getAttribute("data-id")).toBe("9");

  describeRows(refs, table, false);
  refs.tell([row, "a99:r0"]);
  table.querySelector("[data-id='9']")?.setAttribute("data-id", "7");
  expect(() => refs.resolve({ uid: row })).toThrow(StaleRowError);
});

test("a row far away is rendered by scrolling to it", async () => {
  const list = shown("<div role=listbox aria-rowcount=100 style='overflow-y: auto'></div>");
  Object.defineProperties(list, { scrollHeight: { value: 2000 }, clientHeight: { value: 100 } });
  const draw = (first: number): void => {
    list.innerHTML = [0, 1, 2, 3, 4].map((at) => `<div role=option aria-posinset=${first + at + 1}>${first + at}</div>`).join("");
  };
  list.scrollTo = (options?: unknown): void => draw(Math.max(0, Math.round((options as { top: number }).top / 20)));
  draw(0);
  const refs = createRefs("a");
  await renderTarget(refs, { uid: `${refs.uidOf(list)}:r80` });
  expect(refs.resolve({ uid: `${refs.uidOf(list)}:r80` })?.textContent).toBe("80");
  expect((await renderRow(list, 80))?.textContent).toBe("80");
});

test("a cell that draws its value says it in the words of its author", () => {
  const grid = shown(`<div role=grid aria-rowcount=1><div role=row aria-rowindex=1><b role=gridcell aria-label="3 of 5"><i></i></b><b role=gridcell><img alt=paid></b>
    <b role=gridcell><input type=checkbox aria-label="Select this row"></b></div></div>`);
  expect(describeRows(createRefs("a"), grid, false)).toMatchObject({
    visibleCells: [{ cells: [{ text: "3 of 5" }, { text: "paid" }, { text: "" }] }],
  });
});
