import { expect, test } from "vitest";
import { columnsOf, namesOf, parsed, shown, totalsOf } from "../../../src/elements/table/columns";

function table(html: string): Element {
  const host = document.createElement("div");
  host.innerHTML = html;
  return host;
}

const host = table('<ui-column name="unit_price" unit="€" decimals="2" edit required min="1" total></ui-column><ui-column name="kind" options="a|b" edit></ui-column>');
const [price, kind] = columnsOf(host, [{ name: "unit_price", type: "number", label: "Price" }, { name: "kind", type: "text", hidden: true }]);

test("attributes of the author win over what Lua says", () => {
  expect(namesOf(host)).toEqual(["unit_price", "kind"]);
  expect(totalsOf(host)).toEqual({ unit_price: "sum" });
  expect([price?.label, price?.type, price?.edit, price?.decimals, kind?.hidden]).toEqual(["Price", "number", true, 2, true]);
  expect(columnsOf(host, [{ name: "unitPrice_net" }])[0]?.label).toBe("Unit price net");
});

test("values are written for people and read again", () => {
  expect(price && shown(1234.5, price)).toBe("1,234.50 €");
  expect(price && shown(null, price)).toBe("");
  expect(kind && shown(true, kind)).toBe("Yes");
  expect(price && parsed(" 2,5 ", price)).toEqual({ value: 2.5 });
});

test("what cannot be a value is refused with the reason", () => {
  expect(price && parsed("x", price)).toEqual({ problem: "“x” is not a number." });
  expect(price && parsed("", price)).toEqual({ problem: "Price is needed." });
  expect(price && parsed("0.5", price)).toEqual({ problem: "Price is at least 1." });
  expect(kind && parsed("c", kind)).toEqual({ problem: "Choose one of a, b." });
});

test("a date has a year of four digits", () => {
  const [due] = columnsOf(table('<ui-column name="due" type="date" edit></ui-column>'), [{ name: "due", type: "date", label: "Due" }]);
  expect(due && parsed("2026-02-28", due)).toEqual({ value: "2026-02-28" });
  expect(due && parsed("61030-02-02", due)).toEqual({ problem: "“61030-02-02” is not a date, such as 2026-05-31." });
});
