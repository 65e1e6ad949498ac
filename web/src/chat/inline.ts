/** Inline Markdown as DOM nodes. Text becomes text nodes, never markup, so nothing in a message can run or load. */

const SAFE = /^(?:https?:\/\/|mailto:)/i;
const INLINE =
  /(?<code>(`+)(?!`)[\s\S]+?(?<!`)\2(?!`))|(?<image>!\[[^\]]*\]\([^()\s]*(?:\s+"[^"]*")?\))|(?<link>\[(?:[^\][]|\[[^\]]*\])*\]\([^()\s]*(?:\([^()\s]*\))?[^()\s]*(?:\s+"[^"]*")?\))|(?<auto><?https?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]]>?)|(?<strong>\*\*(?=\S)[\s\S]*?\S\*\*|__(?=\S)[\s\S]*?\S__)|(?<em>\*(?=[^\s*])[^*]*[^\s*]\*|(?<![\w])_(?=[^\s_])[^_]*[^\s_]_(?![\w])|\*[^\s*]\*)|(?<strike>~~(?=\S)[\s\S]*?\S~~)|(?<escape>\\[\\`*_{}[\]()#+\-.!|~<>])|(?<break> {2,}\n)/;
const DEEPEST = 8;

export function inline(text: string, depth = 0): Node[] {
  const nodes: Node[] = [];
  let rest = text;
  while (rest) {
    const found = depth < DEEPEST ? INLINE.exec(rest) : null;
    if (!found) {
      break;
    }
    if (found.index > 0) {
      nodes.push(document.createTextNode(rest.slice(0, found.index)));
    }
    nodes.push(...span(found, depth));
    rest = rest.slice(found.index + found[0].length);
  }
  if (rest) {
    nodes.push(document.createTextNode(rest));
  }
  return nodes;
}

function span(found: RegExpExecArray, depth: number): Node[] {
  const groups = found.groups ?? {};
  const whole = found[0];
  if (groups["code"] !== undefined) {
    return [element("code", whole.replace(/^`+ ?/, "").replace(/ ?`+$/, ""))];
  }
  if (groups["image"] !== undefined || groups["link"] !== undefined) {
    return [reference(whole, depth)];
  }
  if (groups["auto"] !== undefined) {
    const address = whole.replace(/^<|>$/g, "");
    return [link(address, [document.createTextNode(address)])];
  }
  if (groups["strong"] !== undefined) {
    return [element("strong", ...inline(whole.slice(2, -2), depth + 1))];
  }
  if (groups["em"] !== undefined) {
    return [element("em", ...inline(whole.slice(1, -1), depth + 1))];
  }
  if (groups["strike"] !== undefined) {
    return [element("s", ...inline(whole.slice(2, -2), depth + 1))];
  }
  return groups["break"] !== undefined ? [element("br")] : [document.createTextNode(whole.slice(1))];
}

/** A link. An image becomes a link too, since loading it would tell its server who reads the message. */
function reference(whole: string, depth: number): Node {
  const parts = /^(!?)\[([\s\S]*)\]\((\S*?)(?:\s+"([^"]*)")?\)$/.exec(whole);
  const [, image = "", label = "", address = ""] = parts ?? [];
  const inside = image ? [document.createTextNode(`Image: ${label || address}`)] : inline(label, depth + 1);
  return link(address, inside);
}

function link(address: string, inside: Node[]): Node {
  if (!SAFE.test(address)) {
    return element("span", ...inside);
  }
  const anchor = element("a", ...inside);
  anchor.setAttribute("href", address);
  anchor.setAttribute("target", "_blank");
  anchor.setAttribute("rel", "noopener noreferrer nofollow");
  return anchor;
}

export function element<K extends keyof HTMLElementTagNameMap>(name: K, ...children: (Node | string)[]): HTMLElementTagNameMap[K];
export function element(name: string, ...children: (Node | string)[]): HTMLElement;
export function element(name: string, ...children: (Node | string)[]): HTMLElement {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}
