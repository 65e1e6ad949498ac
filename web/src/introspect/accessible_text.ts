/** The text and state of an element as a user perceives it: label, value, selection. */

import { allRoots, isShown } from "./dom";
import { isControl, isSingle } from "./roles";

const INLINE = new Set(
  ("a abbr b bdi bdo br cite code data dfn em font i kbd mark q s samp slot small span strong sub sup time u var wbr " +
    "svg path g circle rect line polyline polygon ellipse defs use").split(" "),
);
const MASKED = /\b(one-time-code|current-password|new-password)\b/;
const TEXT_LENGTH = 2000;
const SVG = "http://www.w3.org/2000/svg";

export interface AccessibleText {
  label?: string;
  prompt?: string;
  value?: string;
  selected?: boolean;
  checked?: boolean;
  masked?: true;
  options?: string[];
  /** Of text in a drawing, where colour is part of what it says. */
  colour?: string;
  /** It stands for a component, whose inner parts add nothing; what is slotted into it may. */
  wraps?: true;
  /** Its descendants add nothing and are left out. */
  leaf: boolean;
}

/** Describe one element. The content of password fields is left out. */
export function accessibleTextOf(element: Element): AccessibleText {
  switch (element.localName) {
    case "input":
      return input(element as HTMLInputElement);
    case "textarea":
      return { ...named(element), ...typed(element as HTMLTextAreaElement), leaf: true };
    case "select":
      return choice(element as HTMLSelectElement);
    case "img":
      return { ...some("label", element.getAttribute("aria-label") ?? element.getAttribute("alt") ?? fileName((element as HTMLImageElement).src)), leaf: true };
    case "option":
      return { ...some("label", clean(element.textContent)), selected: (element as HTMLOptionElement).selected, leaf: true };
    case "label":
      // Its text is the label of the field. Repeated here, a query by text would match both.
      return (element as HTMLLabelElement).control ? { leaf: element.childElementCount === 0 } : general(element);
    case "iframe":
      return { ...named(element), leaf: false };
    case "svg":
      return { ...named(element), leaf: !isDrawing(element) };
    case "canvas":
    case "video":
    case "audio":
    case "object":
    case "embed":
      return { ...named(element), leaf: true };
    default:
      if (SHAPES.has(element.localName) && element.namespaceURI === SVG) return shape(element);
      return inner(element) ?? general(element);
  }
}

const SHAPES = new Set(["circle", "ellipse", "rect", "polygon", "polyline", "line", "path", "text", "image"]);

/** Whether an SVG is a drawing or a chart, whose parts are seen one by one, and not an icon. */
function isDrawing(svg: Element): boolean {
  if (svg.querySelector("text,[onclick],[tabindex]")) return true;
  const { width, height } = svg.getBoundingClientRect();
  const large = Math.min(width, height) >= 50 && width * height >= 5000;
  return (large || isNamed(svg)) && !svg.closest("button,a,[role=img],[aria-hidden=true]");
}

/** A part of a drawing: what it says, or its colour. */
function shape(element: Element): AccessibleText {
  if (element.localName === "text") {
    const fill = element.getAttribute("fill");
    return { ...some("label", clean(element.textContent)), ...some("colour", fill === "black" ? "" : clean(fill)), leaf: true };
  }
  const colour = [element.getAttribute("fill"), element.getAttribute("stroke")].find((given) => given && given !== "none");
  return { ...some("label", clean(element.getAttribute("aria-label")) || clean(colour)), leaf: true };
}

/** The input inside a custom element that wraps exactly one; null if it contains more than a control does. */
export function innerField(element: Element): HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement | null {
  const shadow = element.localName.includes("-") ? element.shadowRoot : null;
  // A hidden input beside the one that is used carries the value of a form.
  const fields = shadow?.querySelectorAll<HTMLInputElement>("input:not([type=hidden],[aria-hidden=true],[tabindex='-1']),textarea,select");
  if (!shadow || fields?.length !== 1 || shadow.querySelector("h1,h2,h3,h4,ul,ol,table,form,p,section,[role=grid]")) return null;
  return fields[0] ?? null;
}

/** Whether a custom element wraps one button or link, and all its text is slotted. */
function wrapsButton(element: Element): boolean {
  const shadow = element.localName.includes("-") ? element.shadowRoot : null;
  if (shadow?.querySelectorAll("button,a[href],[role=button]").length !== 1) return false;
  return [...shadow.querySelectorAll("*")].every((part) => part.localName === "style" || ownText(part) === "");
}

export function isEditable(element: Element): boolean {
  return (element as { isContentEditable?: boolean }).isContentEditable === true;
}

/** Collapse white space and replace unpaired surrogates. */
export function clean(text: string | null | undefined): string {
  const joined = (text ?? "").slice(0, TEXT_LENGTH * 2).replace(/\s+/g, " ").trim().slice(0, TEXT_LENGTH);
  return /[\ud800-\udfff]/.test(joined) ? wellFormed(joined) : joined;
}

export function wellFormed(text: string): string {
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
}

function input(field: HTMLInputElement): AccessibleText {
  switch (field.type) {
    case "checkbox":
      return { ...named(field), checked: field.checked, leaf: true };
    case "radio":
      return { ...named(field), selected: field.checked, leaf: true };
    case "button":
    case "submit":
    case "reset":
      return { ...some("label", clean(field.value || field.getAttribute("aria-label"))), leaf: true };
    case "file":
      return { ...named(field), ...some("value", [...(field.files ?? [])].map((file) => file.name).join(", ")), leaf: true };
    default:
      return { ...named(field), ...typed(field), leaf: true };
  }
}

/** Icon buttons have no text, but a `label` for assistive technology. */
function buttonText(element: Element): string | undefined {
  return clean(element.textContent) || clean(element.getAttribute("label")) || accessibleName(element);
}

const concealed = new WeakSet<Element>();

/** Leave the content of all fields that hold something out of every answer, whatever type they get later. */
export function concealFields(): { count: number } {
  const fields = allRoots().flatMap((root) => [...root.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("input, textarea")]);
  const filled = fields.filter((field) => field.type === "password" || field.value !== field.defaultValue);
  filled.forEach((field) => concealed.add(field));
  return { count: filled.length };
}

/** Whether a field hides what is typed into it. */
export function isMasked(field: Element): boolean {
  return concealed.has(field) || (field as HTMLInputElement).type === "password" || MASKED.test(field.getAttribute("autocomplete") ?? "");
}

function typed(field: HTMLInputElement | HTMLTextAreaElement): Partial<AccessibleText> {
  const prompt = some("prompt", clean(field.placeholder));
  return isMasked(field) ? { ...prompt, masked: true } : { ...prompt, value: wellFormed(field.value.slice(0, TEXT_LENGTH)) };
}

function choice(field: HTMLSelectElement): AccessibleText {
  const value = [...field.selectedOptions].map((option) => clean(option.textContent)).join(", ");
  const options = [...field.options].slice(0, 50).map((option) => clean(option.textContent));
  return { ...named(field), ...some("value", value), options, leaf: true };
}

function inner(element: Element): AccessibleText | null {
  if (isEditable(element) && element.parentElement?.isContentEditable !== true) {
    return { ...named(element), ...some("value", clean(element.textContent)), leaf: true };
  }
  const field = innerField(element);
  if (field) {
    const words = accessibleTextOf(field);
    const label = clean(element.getAttribute("label")) || clean(element.textContent) || words.label;
    return { ...words, ...some("label", label), leaf: holdsOnlyText(element), wraps: true };
  }
  if (wrapsButton(element)) return { ...some("label", buttonText(element)), leaf: holdsOnlyText(element), wraps: true };
  return isControl(element) ? labelled(element) : null;
}

/** A control with only text and pictures inside; pictures name it where text does not. */
function labelled(element: Element): AccessibleText | null {
  const isPicture = (child: Element) => child.localName === "img" || child.getAttribute("role") === "img";
  const single = isSingle(element) || inlineOnly(element, isPicture);
  if (element.shadowRoot || !element.firstElementChild || !single) return null;
  const pictures = [...element.querySelectorAll("img,[role=img]")].map((picture) => picture.getAttribute("aria-label") ?? picture.getAttribute("alt") ?? "");
  const text = clean((element as { innerText?: string }).innerText ?? element.textContent);
  const label = clean(element.getAttribute("aria-label")) || text || clean(pictures.join(" ")) || accessibleName(element);
  return { ...some("label", label), ...ariaState(element), leaf: true };
}

function general(element: Element): AccessibleText {
  const given = element.getAttribute("aria-label");
  if (!element.firstElementChild && !element.shadowRoot) {
    // A box without text may be an icon, or a swatch, which its author has given a colour.
    const text = clean(given ?? element.textContent) || picture(element) || clean((element as Partial<HTMLElement>).style?.backgroundColor);
    return { ...some("label", text), ...ariaState(element), leaf: true };
  }
  if (!element.shadowRoot && inlineOnly(element)) {
    // innerText omits hidden text. It is slower than textContent, and needed only if there are child elements.
    const text = clean((element as { innerText?: string }).innerText ?? element.textContent);
    return { ...some("label", given ? clean(given) : text), ...ariaState(element), leaf: text !== "" || given !== null };
  }
  return { ...some("label", given ? clean(given) : ownText(element)), ...ariaState(element), leaf: false };
}

/** The name of the picture that a style sheet shows in place of an empty element. */
function picture(element: Element): string {
  const style = getComputedStyle(element);
  return [style.content, style.backgroundImage].map((given) => fileName(/^url\("([^"]+)"\)/.exec(given)?.[1] ?? "")).find(Boolean) ?? "";
}

/** The name of a picture's file if a person has given it: "star" of star.png. */
function fileName(url: string): string {
  const name = /^(?:https?|file):.*\/([A-Za-z][\w-]{0,39})\.(?:png|svg|gif|jpe?g|webp|ico)(?:[?#]|$)/.exec(url)?.[1] ?? "";
  // Of many icons in one file, its name tells nothing; nor does a digest.
  return /\d{2}|icons|sprite|[0-9a-f]{8}/i.test(name) ? "" : name;
}

function ariaState(element: Element): Partial<AccessibleText> {
  const checked = element.getAttribute("aria-checked");
  const selected = element.getAttribute("aria-selected") ?? element.getAttribute("aria-pressed");
  return { ...(checked ? { checked: checked === "true" } : {}), ...(selected ? { selected: selected === "true" } : {}) };
}

function named(element: Element): Partial<AccessibleText> {
  return some("label", accessibleName(element));
}

function accessibleName(element: Element): string {
  const ids = element.getAttribute("aria-labelledby");
  const root = element.getRootNode() as Partial<Document | ShadowRoot>;
  if (ids) return clean(ids.split(/\s+/).map((id) => root.getElementById?.(id)?.textContent ?? "").join(" "));
  const label = (element as HTMLInputElement).labels?.[0];
  return clean(element.getAttribute("aria-label")) || labelText(label) || clean(element.getAttribute("title"));
}

/** The text of a label, without the options or the content of the field that it is around. */
function labelText(label: HTMLLabelElement | undefined): string {
  if (!label?.querySelector("select,textarea")) return clean(label?.textContent);
  const texts = label.ownerDocument.createTreeWalker(label, NodeFilter.SHOW_TEXT);
  let text = "";
  while (texts.nextNode()) {
    if (!texts.currentNode.parentElement?.closest("select,textarea")) text += (texts.currentNode as Text).data;
  }
  return clean(text);
}

function ownText(element: Element): string {
  let text = "";
  for (let child = element.firstChild; child; child = child.nextSibling) {
    if (child.nodeType !== Node.TEXT_NODE) continue;
    // Text in a component shows where the component shows the slot that it is in.
    const slot = element.shadowRoot ? (child as Text).assignedSlot : null;
    if (element.shadowRoot && !(slot && isShown(slot))) continue;
    text += ` ${(child as Text).data}`;
  }
  return clean(text);
}

/** Whether a control contains only text, icons and elements for its named slots. */
function holdsOnlyText(element: Element): boolean {
  return inlineOnly(element, (child) => child.hasAttribute("slot") || child.localName.endsWith("-icon"));
}

/** Whether the author gave it an id; our runtime vends ids of its own. */
export function isNamed(element: Element): boolean {
  return element.id !== "" && !isGenerated(element.id);
}

/** Whether its attributes say that it handles clicks. */
export function isOperable(element: Element): boolean {
  return ["onclick", "tabindex", "ui-action", "ui-event-click"].some((name) => element.hasAttribute(name));
}

let listening: ReadonlySet<Element> = new Set();

/** Set the elements to which scripts have added listeners; only a debugger can tell. */
export function setListening(elements: ReadonlySet<Element>): void {
  listening = elements;
}

/** Whether a script listens to clicks on this element. */
export function isListening(element: Element): boolean {
  return listening.has(element);
}

/** Whether a person reaches it with the tab key. */
export function isTabStop(element: Element): boolean {
  return isOperable(element) && element.getAttribute("tabindex") !== "-1";
}

export function hasSize(element: Element): boolean {
  const { width, height } = element.getBoundingClientRect();
  return width > 0 && height > 0;
}

const GENERATED = /[:«»]|^(ag|mui|rc|sl|wa|radix|headlessui|react-aria|cdk|mat|el|ant|tabulator)[-_].*\d|^rc_|^ui-\d+$/;

/** Whether a library made this id up, so that it tells nothing. */
export function isGenerated(id: string): boolean {
  return GENERATED.test(id);
}

/** Whether its content is only inline text. */
function inlineOnly(element: Element, allowed: (child: Element) => boolean = () => false): boolean {
  for (const child of element.children) {
    if (allowed(child)) continue;
    if (!INLINE.has(child.localName) || isNamed(child) || child.hasAttribute("role") || isOperable(child) || isListening(child)) return false;
    // A word with a pointer of its own is a link whose handler was added by script.
    if (child.localName === "span" && getComputedStyle(child).cursor === "pointer" && getComputedStyle(element).cursor !== "pointer") return false;
    // A link without `href` has a handler, or it would be a span.
    if (child.localName === "a") return false;
    if (child.shadowRoot || !inlineOnly(child, allowed)) return false;
  }
  return true;
}

function some<K extends string>(key: K, text: string | null | undefined): { [key in K]?: string } {
  return (text ? { [key]: text } : {}) as { [key in K]?: string };
}
