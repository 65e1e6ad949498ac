/** Captures the page as flat records (contracts/records.schema.json). */

import { allRoots, composedChildren, deepFocus, frameOffset, isShown, rootOf } from "./dom";
import { innermostListening } from "./listeners";
import { actionability } from "./actionability";
import type { NodeRef, Refs } from "./refs";
import { describeRows } from "./rows";
import { arranges, holdsControl, isControl, isDecorative, isGroup, roleOf } from "./roles";
import { type Secrets, secretsOf } from "./secrets";
import { clean, hasSize, isGenerated, isListening, isNamed, isOperable, isTabStop, setListening, wellFormed, accessibleTextOf } from "./accessible_text";

export interface CaptureRequest {
  depth: number;
  sections: string[];
  internals: boolean;
  css: string | null;
  root: NodeRef | null;
  redact?: string[];
  /** How many elements the document has, and the numbers of those that scripts listen to. */
  listening?: [number, number[]];
}

type Box = [number, number, number, number];
type Fields = Record<string, unknown>;

export class CaptureError extends Error {
  constructor(readonly code: string, message: string) {
    super(message);
  }
}

interface Walk {
  refs: Refs;
  ask: CaptureRequest;
  records: Fields[];
  matches: Set<Element> | null;
  focus: Element | null;
  bounds: boolean;
  screen: boolean;
  accessibility: boolean;
  properties: boolean;
  virtualization: boolean;
  reach: boolean;
  secret: Secrets;
}

/** What a node inherits from its ancestors. */
interface Inherited {
  index: number;
  box: Box | null;
  hidden: boolean;
  disabled: boolean;
  secret: boolean;
  /** Inside a component's shadow root, where ids are the component's own. */
  shadow: boolean;
  /** Below `aria-hidden`, where text only decorates. */
  decorative: boolean;
  pointer: boolean;
}

/** What the page shows, and what went wrong in it. */
export interface Captured extends Fields {
  problems: string[];
}

export function capture(refs: Refs, ask: CaptureRequest): Captured {
  const root = ask.root ? refs.resolve(ask.root) : rootOf(document);
  if (!root) throw new CaptureError("MCP_UI_NODE_NOT_FOUND", "no such node");
  setListening(ask.listening ? innermostListening(...ask.listening) : new Set());
  const wants = (section: string) => ask.sections.includes(section);
  const walk: Walk = {
    refs, ask, records: [], matches: ask.css === null ? null : matchesOf(ask.css), focus: deepFocus(),
    bounds: wants("bounds"), screen: wants("localToScreen"), accessibility: wants("accessibility"),
    properties: wants("properties"), virtualization: wants("virtualization"), reach: wants("reach"),
    secret: secretsOf(ask.redact ?? []),
  };
  const hidden = ask.root !== null && !root.checkVisibility();
  visit(walk, root, "", { index: -1, box: null, hidden, disabled: false, secret: walk.secret.below(root), shadow: false, decorative: false, pointer: false }, 0);
  const focused = walk.focus && walk.focus !== rootOf(document) ? refs.uidOf(walk.focus) : null;
  return {
    problems: failedBindings(),
    focus: { stage: document.hasFocus() ? 0 : null, uid: focused, path: walk.focus ? pathOf(walk.focus) : null },
    stage: {
      title: clean(document.title), showing: true, focused: document.hasFocus(), x: 0, y: 0,
      width: innerWidth, height: innerHeight, kind: "stage", url: location.href,
      stylesheets: [...document.styleSheets].map((sheet) => sheet.href ?? "").filter(Boolean),
      ...(ask.root ? { rootPath: pathOf(root) } : {}), nodes: walk.records,
    },
  };
}

const MOST_PROBLEMS = 20;

/** The errors of failed bindings, which our pages set on elements; a missing value alone does not say why. */
function failedBindings(): string[] {
  const failed = [...document.querySelectorAll("[ui-error-description]")].slice(0, MOST_PROBLEMS);
  return failed.map((element) => {
    const id = element.id ? `#${element.id}` : "";
    return `binding on <${element.localName}${id}>: ${clean(element.getAttribute("ui-error-description") ?? "")}`;
  });
}

/** The canonical path, counted among siblings of the same tag. */
export function pathOf(element: Element): string {
  const segments: string[] = [];
  const top = rootOf(document);
  for (let at = element; at !== top; ) {
    const parent: Element | null = parentInTree(at);
    if (!parent) break;
    const tag: string = at.localName;
    const here: Element = at;
    segments.unshift(`${tag}[${composedChildren(parent).filter((child) => child.localName === tag).indexOf(here)}]`);
    at = parent;
  }
  return ["/stages[0]/scene/root", ...segments].join("/");
}

function parentInTree(element: Element): Element | null {
  if (element.parentElement && element !== rootOf(element.ownerDocument)) return element.parentElement;
  const root = element.getRootNode();
  return root.nodeType === Node.DOCUMENT_FRAGMENT_NODE ? (root as ShadowRoot).host : element.ownerDocument.defaultView?.frameElement ?? null;
}

function visit(walk: Walk, element: Element, segment: string, above: Inherited, depth: number): void {
  const index = walk.records.length;
  const secret = above.secret || walk.secret.has(element);
  const decorative = !walk.ask.internals && (above.decorative || element.getAttribute("aria-hidden") === "true");
  const given = walk.secret.kept(element, accessibleTextOf(element), secret);
  const unreachable = decorative && (!isControl(element) || element.getAttribute("tabindex") === "-1");
  const words = unreachable ? { leaf: given.leaf } : given;
  const record: Fields = { u: walk.refs.uidOf(element), t: element.localName };
  walk.records.push(record);
  if (above.index >= 0) {
    record["p"] = above.index;
    record["n"] = segment;
  }
  putIdentity(record, element, above.shadow);
  const { hidden, pointer } = putVisibility(record, element, above);
  const disabled = above.disabled || isDisabled(element);
  if (disabled) record["x"] = true;
  putText(record, words);
  putStates(walk, record, element, disabled);
  const role = element.getAttribute("role") ?? "";
  const arranging = role === "" || role === "presentation" || role === "none" || role === "generic";
  if (!arranging) record["er"] = role;
  const silent = !words.label && !words.prompt && words.value === undefined && words.selected === undefined && words.checked === undefined;
  const handled = ((pointer && !above.pointer) || isListening(element)) && !holdsControl(element) && !isColumnEdge(element);
  const operable = !unreachable && (isControl(element) || isOperable(element) || (handled && isBare(element)));
  // A pointer that the parent does not have marks a handler that was added by script.
  if (!hidden && !unreachable && (isControl(element) || isTabStop(element) || handled || words.wraps)) record["a"] = 1;
  const plain = (arranging && arranges(element)) || isGroup(element, role) || decorative || isDecorative(element, words.leaf);
  const named = isNamed(element) && !above.shadow;
  if (plain && silent && !words.masked && !named && !(operable && hasSize(element)) && above.index >= 0 && !(walk.ask.internals && hasSize(element))) record["y"] = 1;
  const box = walk.bounds || walk.screen ? putBounds(walk, record, element, above.box) : null;
  if (walk.accessibility || walk.properties) putAccessibility(walk, record, element, secret);
  if (walk.reach) record["re"] = actionability(walk.refs, element);
  const rows = walk.virtualization ? describeRows(walk.refs, element, secret || walk.secret.around(element)) : null;
  if (rows) record["z"] = rows;
  if (walk.matches?.has(element)) record["q"] = 1;
  if (words.leaf && !walk.ask.internals) return;
  // The text of a label is that of its field.
  const labels = element.localName === "label" && (element as HTMLLabelElement).control !== null;
  const inside = { index, box, hidden, disabled, secret, shadow: above.shadow, decorative: decorative || labels, pointer };
  descend(walk, element, inside, depth, record, words.wraps === true && !walk.ask.internals);
}

/** Whether it is the narrow edge by which a person makes a column of a grid wider; every cell may have one. */
function isColumnEdge(element: Element): boolean {
  if (element.firstElementChild || clean(element.textContent) !== "" || !element.closest("tr,[role=row]")) return false;
  const { width, height } = element.getBoundingClientRect();
  return width < 12 && height >= 2 * width;
}

const WHOLE = "[role=slider],[role=img]";

/** Whether nothing in an element says what it is, so that it needs a line of its own. */
function isBare(element: Element): boolean {
  if (element.querySelector("slot")) return false; // what is slotted says it
  // A part of what is operated as a whole.
  const host = (element.getRootNode() as Partial<ShadowRoot>).host;
  if (host?.matches(WHOLE) || element.parentElement?.closest(WHOLE)) return false;
  return !element.firstElementChild || (clean(element.textContent) === "" && !element.querySelector("img,[aria-label],[title]"));
}

function descend(walk: Walk, element: Element, above: Inherited, depth: number, record: Fields, wraps: boolean): void {
  const children = composedChildren(element);
  const root = element.shadowRoot;
  if (element.localName === "iframe" && !children.length) record["e"] = { crossOrigin: true };
  if (depth >= walk.ask.depth) {
    if (children.length) record["ct"] = children.length;
    return;
  }
  const counts = new Map<string, number>();
  const closed = element.localName === "details" && !(element as HTMLDetailsElement).open;
  const summary = closed ? element.querySelector(":scope > summary") : null;
  for (const child of children) {
    const nth = counts.get(child.localName) ?? 0;
    counts.set(child.localName, nth + 1);
    const inShadow = root !== null && child.parentNode === root;
    // What stands for a component has its text already; what is slotted shows only where the component shows its slot.
    if (inShadow && wraps) continue;
    const hidden = above.hidden || (closed && child !== summary) || (root !== null && !inShadow && !isShown(child));
    const shadow = above.shadow || inShadow;
    const same = hidden === above.hidden && shadow === above.shadow;
    visit(walk, child, `${child.localName}[${nth}]`, same ? above : { ...above, hidden, shadow }, depth + 1);
  }
}

function putIdentity(record: Fields, element: Element, shadow: boolean): void {
  if (element.id) record["i"] = wellFormed(element.id);
  if (element.id && (shadow || isGenerated(element.id))) record["ig"] = 1;
  if (element.classList.length) record["c"] = [...element.classList];
}

function putVisibility(record: Fields, element: Element, above: Inherited): { hidden: boolean; pointer: boolean } {
  if (above.hidden) {
    record["w"] = false;
    return { hidden: true, pointer: false };
  }
  const style = getComputedStyle(element);
  const gone = style.display === "none";
  if (gone) record["g"] = false;
  if (style.opacity !== "1") record["o"] = Number(style.opacity);
  const hidden = gone || style.visibility !== "visible";
  if (hidden) record["v"] = false;
  return { hidden, pointer: style.cursor === "pointer" };
}

export function isDisabled(element: Element): boolean {
  return (element as { disabled?: boolean }).disabled === true || element.getAttribute("aria-disabled") === "true"
    || element.hasAttribute("inert") || (element.localName.includes("-") && element.hasAttribute("disabled"));
}

function putText(record: Fields, words: ReturnType<typeof accessibleTextOf>): void {
  if (words.label) record["l"] = words.label;
  if (words.prompt) record["lp"] = words.prompt;
  if (words.value !== undefined) record["vt"] = words.value;
  if (words.selected !== undefined) record["vs"] = words.selected;
  if (words.checked !== undefined) record["vc"] = words.checked;
  if (words.masked) record["k"] = true;
  if (words.options) record["e"] = { options: words.options };
  if (words.colour) record["e"] = { colour: words.colour };
}

function putStates(walk: Walk, record: Fields, element: Element, disabled: boolean): void {
  const found: string[] = [];
  if (walk.focus === element || (walk.focus !== null && element.shadowRoot?.activeElement === walk.focus)) found.push("focused");
  if (disabled) found.push("disabled");
  if (record["vs"]) found.push("selected");
  if (record["vc"]) found.push("checked");
  if (found.length) record["s"] = found;
}

function putBounds(walk: Walk, record: Fields, element: Element, parent: Box | null): Box {
  const rect = element.getBoundingClientRect();
  const offset = element.ownerDocument === document ? { x: 0, y: 0 } : frameOffset(element.ownerDocument);
  const box: Box = [round(rect.x + offset.x), round(rect.y + offset.y), round(rect.width), round(rect.height)];
  if (walk.bounds) {
    record["bs"] = box;
    record["bp"] = parent ? [round(box[0] - parent[0]), round(box[1] - parent[1]), box[2], box[3]] : box;
  }
  // In a page, scene and screen coordinates are the same. They are reported once.
  if (walk.screen && !walk.bounds) record["sc"] = box;
  return box;
}

function round(number: number): number {
  return Math.round(number * 100) / 100;
}

const TEST_IDS = ["data-testid", "data-test-id", "data-test", "data-cy"];

function putAccessibility(walk: Walk, record: Fields, element: Element, secret: boolean): void {
  if (walk.accessibility) {
    record["ro"] = roleOf(element).toUpperCase();
    const help = clean(element.getAttribute("aria-description"));
    if (help) record["he"] = help;
    const testId = TEST_IDS.find((name) => element.hasAttribute(name));
    if (testId) record["e"] = { ...record["e"] as object, testId: `[${testId}=${JSON.stringify(element.getAttribute(testId))}]` };
  }
  const title = walk.properties && !secret ? clean(element.getAttribute("title")) : "";
  if (title) record["tt"] = title;
}

function matchesOf(css: string): Set<Element> {
  try {
    return new Set(allRoots().flatMap((root) => [...root.querySelectorAll(css)]));
  } catch {
    throw new CaptureError("MCP_UI_INVALID_ARGUMENT", `Not a css selector: ${css}`);
  }
}
