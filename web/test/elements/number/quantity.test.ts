import { expect, it } from "vitest";
import { parseQuantity, unitsOf } from "../../../src/elements/number/quantity";

const [GRAM, KILO] = unitsOf(["g:1", "kg:1000"]);
const UNITS = unitsOf(["g:1", "kg:1000"]);

it.each([
  ["1234", 1234], ["1,234", 1234], ["1,234.5", 1234.5], ["1.234,5", 1234.5], ["0,5", 0.5], ["1,5", 1.5], ["1 234", 1234], ["1'234'567", 1234567],
  ["-3.25", -3.25], ["−7", -7], ["2 kg", 2000], ["0.3kg", 300], ["1.000.000", 1000000], ["1.5", 1.5], ["1.234", 1.234],
])("%s is %d", (text, number) => expect(parseQuantity(text, UNITS, GRAM ?? { name: "", factor: 1 })).toBe(number));

it.each(["", "abc", "5 miles", "--3", "kg"])("%s is no number", (text) => expect(parseQuantity(text, UNITS, KILO ?? { name: "", factor: 1 })).toBeNull());

it("counts in the unit that is shown", () => expect(parseQuantity("1.5", UNITS, KILO ?? { name: "", factor: 1 })).toBe(1500));
