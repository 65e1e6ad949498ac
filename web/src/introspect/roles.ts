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
  "div span slot section article main header footer aside body tbody thead tfoot center hgroup figure picture g svg i ul ol dl table colgroup col br wbr label li".split(" "),
);

export function roleOf(element: Element): string {
  const given = element.getAttribute("role");
  if (given) return given.split(" ")[0] ?? "generic";
  if (element.localName === "input") return INPUTS[(element as HTMLInputElement).type] ?? "textbox";
  return IMPLIED[element.localName] ?? "generic";
}

const GROUPS = new Set(["group", "rowgroup", "region", "listbox", "tablist", "list", "alert", "status", "log", "toolbar", "tabpanel", "radiogroup", "row", "code", "none"]);
const CONTROLS = new Set(["button", "select", "textarea", "summary"]);
const OPERATED = new Set(
  ("button link checkbox radio switch tab menuitem menuitemcheckbox menuitemradio option treeitem slider spinbutton combobox " +
    "textbox searchbox").split(" "),
);

/** Whether an element only groups others, so that it says nothing without a name. */
export function isGroup(element: Element, role: string): boolean {
  return GROUPS.has(role) || (role === "" && (element.localName === "fieldset" || element.localName === "tr"));
}

/** Whether its tag or role says that it is operated. */
export function isControl(element: Element): boolean {
  const name = element.localName;
  if (CONTROLS.has(name) || OPERATED.has(element.getAttribute("role") ?? "")) return true;
  if (name === "input") return (element as HTMLInputElement).type !== "hidden";
  return (name === "a" && element.hasAttribute("href")) || (element as { isContentEditable?: boolean }).isContentEditable === true;
}

const SINGLE = new Set(["button", "link", "checkbox", "radio", "switch", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option"]);

/** Whether an element is one control whatever it contains, as a button is. */
export function isSingle(element: Element): boolean {
  const role = element.getAttribute("role") ?? (element.localName === "a" ? "link" : element.localName);
  return SINGLE.has(role) && !element.querySelector("input,button,select,textarea,a,[role]:not([role=img]),[tabindex],[contenteditable]");
}

/** Whether a control is inside, which is operated instead of the element. */
export function holdsControl(element: Element): boolean {
  return element.localName === "label" || element.querySelector("input,button,select,textarea,a[href]") !== null;
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
  return PLAIN.has(element.localName);
}
