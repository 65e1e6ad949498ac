/** Lua tables as elements get them: every one has its number under `$`; the other side is `element_items.lua`. */
import { plainText } from "./base";

export interface Item {
  readonly $?: number;
  readonly [field: string]: unknown;
}

const NAMES = ["title", "label", "name", "text", "id"];

/** By this the server finds the very table. */
export function reference(item: Item): { readonly obj: number } | null {
  return item.$ === undefined ? null : { obj: item.$ };
}

/** What a table is called: the field that was asked for, else the first usual one. */
export function textFields(item: Item, asked: string): string {
  const names = asked === "" ? NAMES : [asked];
  return plainText(item[names.find((name) => plainText(item[name]) !== "") ?? ""]);
}

export function itemsOf(value: unknown): Item[] {
  return Array.isArray(value) ? value.filter((one): one is Item => typeof one === "object" && one !== null) : [];
}
