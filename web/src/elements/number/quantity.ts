/** Numbers with units: how a person writes them, and how they are shown; pure. */

export interface Unit {
  readonly name: string;
  /** How many of the value's own unit it is. */
  readonly factor: number;
}

/** `g:1|kg:1000`, or a single name. */
export function unitsOf(texts: readonly string[]): Unit[] {
  return texts.map((text) => {
    const [name = "", factor = "1"] = text.split(":");
    return { name: name.trim(), factor: Number(factor) || 1 };
  });
}

/** Read `1,234.5`, `1.234,5`, `1 234` or `5 kg`; null if it is no number, or in a unit that is not among them. */
export function parseQuantity(text: string, units: readonly Unit[], unit: Unit): number | null {
  const found = /^([-+]?[\d.,'\s]*\d)\s*(\D*)$/.exec(text.replace(/[\u2212\u2013]/g, "-").replace(/[\u00a0\u202f]/g, " ").trim());
  const [, digits = "", suffix = ""] = found ?? [];
  const named = suffix.trim();
  const used = named === "" ? unit : units.find(({ name }) => name.toLowerCase() === named.toLowerCase());
  const number = found === null ? NaN : plainNumber(digits.replace(/[\s']/g, ""));
  return used === undefined || Number.isNaN(number) ? null : tidy(number * used.factor);
}

/** The last of different separators is the decimal one, and so is a single one that does not cut off three digits. */
function plainNumber(digits: string): number {
  const last = Math.max(digits.lastIndexOf("."), digits.lastIndexOf(","));
  if (last < 0) {
    return Number(digits);
  }
  const mark = digits[last] ?? ".";
  const others = digits.slice(0, last).replaceAll(mark, "");
  const repeated = digits.indexOf(mark) !== last;
  const mixed = /[.,]/.test(others);
  const groups = repeated || (mark === "," && !mixed && /^[-+]?\d{1,3}$/.test(digits.slice(0, last)) && digits.length - last === 4);
  return groups ? Number(digits.replace(/[.,]/g, "")) : Number(`${digits.slice(0, last).replace(/[.,]/g, "")}.${digits.slice(last + 1)}`);
}

/** Without the errors of binary fractions. */
export function tidy(number: number): number {
  return Number(number.toPrecision(12));
}

export function shownNumber(value: number, decimals: number | null): string {
  return value.toLocaleString(undefined, decimals === null ? { maximumFractionDigits: 6 } : { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}
