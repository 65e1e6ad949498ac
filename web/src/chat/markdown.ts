/** Block-level Markdown as DOM nodes. HTML in a message is shown as text. */
import { highlight } from "./highlight";
import { element, inline } from "./inline";

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^(\s*)(?:([-*+])|(\d{1,9})[.)])\s+(.*)$/;
const DIVIDER = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const DEEPEST = 6;

export function markdown(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  fragment.append(...blocks(text.replace(/\r\n?/g, "\n").split("\n"), 0));
  return fragment;
}

function blocks(lines: readonly string[], depth: number): Node[] {
  const nodes: Node[] = [];
  let at = 0;
  while (at < lines.length) {
    const [node, used] = block(lines, at, depth);
    if (node) {
      nodes.push(node);
    }
    at += used;
  }
  return nodes;
}

function block(lines: readonly string[], at: number, depth: number): [Node | null, number] {
  const line = lines[at] ?? "";
  if (!line.trim()) {
    return [null, 1];
  }
  const fence = FENCE.exec(line);
  if (fence) {
    return code(lines, at, fence);
  }
  const heading = HEADING.exec(line);
  if (heading) {
    return [element(`h${Math.min((heading[1] ?? "").length + 1, 6)}`, ...inline(heading[2] ?? "")), 1];
  }
  if (RULE.test(line)) {
    return [element("hr"), 1];
  }
  if (depth < DEEPEST && QUOTE.test(line)) {
    const inside = run(lines, at, (one) => QUOTE.test(one));
    return [element("blockquote", ...blocks(inside.map((one) => one.replace(QUOTE, "")), depth + 1)), inside.length];
  }
  if (depth < DEEPEST && ITEM.test(line)) {
    return list(lines, at, depth);
  }
  if (line.includes("|") && DIVIDER.test(lines[at + 1] ?? "") && (lines[at + 1] ?? "").includes("-")) {
    return table(lines, at);
  }
  const inside = run(lines, at, (one, index) => index === 0 || continues(one));
  return [element("p", ...inline(inside.join("\n"))), inside.length];
}

function continues(line: string): boolean {
  return !!line.trim() && !FENCE.test(line) && !HEADING.test(line) && !RULE.test(line) && !QUOTE.test(line) && !ITEM.test(line);
}

function run(lines: readonly string[], at: number, belongs: (line: string, index: number) => boolean): string[] {
  let end = at;
  while (end < lines.length && belongs(lines[end] ?? "", end - at)) {
    end++;
  }
  return lines.slice(at, end);
}

function code(lines: readonly string[], at: number, fence: RegExpExecArray): [Node, number] {
  const [, mark = "```", language = ""] = fence;
  const closing = new RegExp(`^ {0,3}${mark[0]}{${mark.length},}\\s*$`);
  const inside = run(lines, at + 1, (one) => !closing.test(one));
  const body = element("code", ...colours(inside.join("\n"), language));
  const shown = element("pre", body);
  shown.tabIndex = 0;
  if (language) {
    shown.dataset["language"] = language;
  }
  return [shown, inside.length + 2];
}

function colours(text: string, language: string): Node[] {
  return highlight(text, language).map(({ kind, text: piece }) => {
    if (kind === "plain") {
      return document.createTextNode(piece);
    }
    const span = element("span", piece);
    span.className = `code-${kind}`;
    return span;
  });
}

function list(lines: readonly string[], at: number, depth: number): [Node, number] {
  const first = ITEM.exec(lines[at] ?? "");
  const indent = (first?.[1] ?? "").length;
  const ordered = first?.[3] !== undefined;
  const inside = run(lines, at, (one, index) => index === 0 || inList(one, indent, lines[at + index - 1] ?? ""));
  const made = element(ordered ? "ol" : "ul", ...items(inside, indent, depth));
  if (ordered && first[3] !== "1") {
    made.setAttribute("start", first[3] ?? "1");
  }
  return [made, inside.length];
}

function inList(line: string, indent: number, before: string): boolean {
  if (!line.trim()) {
    return true;
  }
  const own = line.length - line.trimStart().length;
  return own > indent || (own === indent && ITEM.test(line)) || (!!before.trim() && continues(line));
}

function items(lines: readonly string[], indent: number, depth: number): Node[] {
  const groups: string[][] = [];
  for (const line of lines) {
    const found = ITEM.exec(line);
    if (found && (found[1] ?? "").length <= indent) {
      groups.push([found[4] ?? ""]);
    } else {
      groups.at(-1)?.push(line.replace(new RegExp(`^\\s{0,${indent + 2}}`), ""));
    }
  }
  return groups.map((group) => item(group, depth));
}

function item(lines: string[], depth: number): Node {
  while (lines.length > 1 && !lines.at(-1)?.trim()) {
    lines.pop();
  }
  const task = /^\[([ xX])\]\s+/.exec(lines[0] ?? "");
  if (task) {
    lines[0] = (task[1] === " " ? "☐ " : "☑ ") + (lines[0] ?? "").slice(task[0].length);
  }
  const inside = blocks(lines, depth + 1);
  const [only] = inside;
  const tight = only instanceof HTMLParagraphElement && !lines.slice(1).some((line) => !line.trim());
  return element("li", ...(tight ? [...only.childNodes, ...inside.slice(1)] : inside));
}

function table(lines: readonly string[], at: number): [Node, number] {
  const rows = run(lines, at + 2, (one) => one.includes("|"));
  const head = element("tr", ...cells(lines[at] ?? "").map((cell) => element("th", ...inline(cell))));
  const body = rows.map((row) => element("tr", ...cells(row).map((cell) => element("td", ...inline(cell)))));
  const shown = element("div", element("table", element("thead", head), element("tbody", ...body)));
  shown.className = "table-scroll";
  return [shown, rows.length + 2];
}

function cells(row: string): string[] {
  return row
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());
}
