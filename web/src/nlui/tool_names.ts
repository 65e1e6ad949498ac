/** Names of tools and deciders as people read them. */

/** What stands between the name of a source and the name of its tool. */
const BETWEEN = "__";

/** The API or server of a tool, `shop` of `shop__ship_order`; "" if the name has none. */
export function sourceOf(name: string): string {
  const at = name.indexOf(BETWEEN);
  return at > 0 ? name.slice(0, at) : "";
}

/** The tool in words: `shop__ship_order` and `shop__shipOrder` are "Ship order". */
export function toolTitle(name: string): string {
  const source = sourceOf(name);
  const own = source ? name.slice(source.length + BETWEEN.length) : name;
  const words = own.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\d+/gu)?.map((word) => (word.length > 1 && word === word.toUpperCase() ? word : word.toLowerCase()));
  const text = words?.join(" ") ?? own;
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Who decided: the person at this page is "you". */
export function person(decider: string): string {
  return decider === "human" ? "you" : decider;
}
