/** Numbers as the reader writes them, in cells, in fields and in text. */

const formats = new Map<number | null, Intl.NumberFormat>();

/** The number in the reader's way, with so many digits after the decimal point (null: as many as it needs), and its unit. */
export function numberText(value: number, decimals: number | null, unit: string): string {
  const text = format(decimals).format(value);
  return unit === "" ? text : `${text} ${unit}`;
}

/** Made once for each: `toLocaleString` makes one for each call, which takes longer than to draw the number. */
function format(decimals: number | null): Intl.NumberFormat {
  const known = formats.get(decimals);
  if (known !== undefined) {
    return known;
  }
  // Four digits are mostly a year, which is written without a separator.
  const digits = decimals === null ? { maximumFractionDigits: 6, useGrouping: "min2" as const } : { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const made = new Intl.NumberFormat(undefined, digits);
  formats.set(decimals, made);
  return made;
}
