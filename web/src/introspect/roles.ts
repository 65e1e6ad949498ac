/** The ARIA role of an element: the explicit one, else the one implied by its tag. */

const IMPLIED: Record<string, string> = {
  a: "link", article: "article", aside: "complementary", body: "document", button: "button", caption: "caption", dialog: "dialog",
  dd: "definition", dt: "term", fieldset: "group", figure: "figure", footer: "contentinfo", form: "form", h1: "heading",
  h2: "heading", h3: "heading", h4: "heading", h5: "heading", h6: "heading", header: "banner", hr: "separator", img: "img",
  li: "listitem", main: "main", menu: "list", meter: "meter", nav: "navigation", ol: "list", option: "option",
  output: "status", p: "paragraph", progress: "progressbar", section: "region", select: "combobox", summary: "button",
  table: "table", tbody: "rowgroup", td: "cell", textarea: "textbox", tfoot: "rowgroup", th: "columnheader", thead: "rowgroup",
  tr: "row", ul: "list",
};
const INPUTS: Record<string, string> = {
  button: "button", checkbox: "checkbox", image: "button", number: "spinbutton", radio: "radio", range: "slider",
  reset: "button", search: "searchbox", submit: "button",
};
const PLAIN = new Set(
  "div span slot section article main header footer aside body tbody thead tfoot center hgroup figure picture g svg i ul ol dl table".split(" "),
);

export function roleOf(element: Element): string {
  const given = element.getAttribute("role");
  if (given) return given.split(" ")[0] ?? "generic";
  if (element.localName === "input") return INPUTS[(element as HTMLInputElement).type] ?? "textbox";
  return IMPLIED[element.localName] ?? "generic";
}

/** Whether an element shows nothing that has a name: an icon, a bullet, an empty holder of other elements. */
export function isDecorative(element: Element, leaf: boolean): boolean {
  if (element.getAttribute("aria-hidden") === "true" || element.getAttribute("role") === "presentation") return true;
  const name = element.localName;
  if (name === "img") return element.getAttribute("alt") === "";
  return name === "svg" || (name.includes("-") && (!leaf || /icon|spinner|divider|visually-hidden/.test(name)) && !element.hasAttribute("role"));
}

/** Whether an element is only there for layout. */
export function arranges(element: Element): boolean {
  return PLAIN.has(element.localName) || (element.localName === "label" && (element as HTMLLabelElement).control !== null);
}
