/** What each element takes as its value, from its contract; the rest of a contract is for guides and checks. */

const found = import.meta.glob<string>("./*/contract.json", { eager: true, import: "binds" });

const binds = new Map(Object.entries(found).map(([path, kind]) => [`ui-${path.split("/")[1] ?? ""}`, kind]));

/** `value` is written and read like a field, `text` only shown; all others are data that the server sends in parts. */
export function bindsOf(tag: string): string {
  return binds.get(tag) ?? "";
}

export function takesData(tag: string): boolean {
  return !["", "value", "text", "none"].includes(bindsOf(tag));
}

export function isElement(tag: string): boolean {
  return binds.has(tag);
}
