/** Decides which old node each new node continues. Reads the DOM without changing it. */
import { isVended } from "./ids";

const MAX_PAIRS = 20_000;

/** Pair new nodes with old ones of the same kind, preferring those with the same bindings and ids. */
export function match(olds: readonly Node[], news: readonly Node[]): Map<Node, Node> {
  const pairs = new Map<Node, Node>();
  let start = 0;
  let oldEnd = olds.length;
  let newEnd = news.length;
  const alike = (a: Node | undefined, b: Node | undefined): boolean =>
    a !== undefined && b !== undefined && compatible(a, b) && tokens(a).join() === tokens(b).join();
  while (start < oldEnd && start < newEnd && alike(olds[start], news[start])) {
    pairs.set(news[start] as Node, olds[start] as Node);
    start += 1;
  }
  while (oldEnd > start && newEnd > start && alike(olds[oldEnd - 1], news[newEnd - 1])) {
    oldEnd -= 1;
    newEnd -= 1;
    pairs.set(news[newEnd] as Node, olds[oldEnd] as Node);
  }
  matchRest(olds.slice(start, oldEnd), news.slice(start, newEnd), pairs);
  return pairs;
}

function matchRest(olds: Node[], news: Node[], pairs: Map<Node, Node>): void {
  if (olds.length * news.length > MAX_PAIRS) {
    matchInOrder(olds, news, pairs);
    return;
  }
  const candidates = news.flatMap((next, at) =>
    olds.flatMap((old, from) => (compatible(old, next) ? [{ next, old, score: score(old, next) - Math.abs(at - from) / 1000 }] : [])),
  );
  candidates.sort((a, b) => b.score - a.score);
  const used = new Set<Node>();
  for (const { next, old } of candidates) {
    if (!pairs.has(next) && !used.has(old)) {
      pairs.set(next, old);
      used.add(old);
    }
  }
}

function matchInOrder(olds: Node[], news: Node[], pairs: Map<Node, Node>): void {
  news.forEach((next, at) => {
    const old = olds[at];
    if (old !== undefined && compatible(old, next)) {
      pairs.set(next, old);
    }
  });
}

function compatible(old: Node, next: Node): boolean {
  if (!(old instanceof Element && next instanceof Element)) {
    return old.nodeType === next.nodeType && old.nodeType === Node.TEXT_NODE;
  }
  if (old.localName !== next.localName || old.namespaceURI !== next.namespaceURI || next.localName === "script") {
    return false;
  }
  if (old instanceof HTMLInputElement && next instanceof HTMLInputElement && old.type !== next.type) {
    return false;
  }
  const [a, b] = [givenId(old), givenId(next)];
  return a === b || a === "" || b === "";
}

function score(old: Node, next: Node): number {
  const a = new Set(tokens(old));
  const shared = tokens(next).filter((token) => a.has(token)).length;
  const sameClass = old instanceof Element && next instanceof Element && old.getAttribute("class") === next.getAttribute("class");
  return shared * 10 + (sameClass ? 2 : 0) - Math.abs(a.size - tokens(next).length) / 100;
}

/** The bindings and authored ids of a node and its descendants. */
function tokens(node: Node): string[] {
  if (!(node instanceof Element)) {
    return [];
  }
  const found = ownTokens(node);
  for (const inner of node.querySelectorAll("*")) {
    found.push(...ownTokens(inner));
  }
  return found;
}

export function ownTokens(element: Element): string[] {
  const found: string[] = [];
  for (const { name, value } of element.attributes) {
    if (name.startsWith("ui-") && !name.startsWith("ui-error")) {
      found.push(`${element.localName} ${name}=${value}`);
    }
  }
  const id = givenId(element);
  return id === "" ? found : [...found, `#${id}`];
}

function givenId(element: Element): string {
  return isVended(element.id) ? "" : element.id;
}
