/** The columns of a table: what the author and Lua say of them, and how their values are written and read. */
import { numberText } from "../numbers";

export type Kind = "text" | "number" | "date" | "boolean";
export type Value = string | number | boolean | null;

export interface Column {
  readonly name: string;
  readonly label: string;
  readonly type: Kind;
  readonly unit: string;
  readonly decimals: number | null;
  readonly total: string;
  readonly edit: boolean;
  readonly required: boolean;
  readonly min: string;
  readonly max: string;
  readonly options: readonly string[];
  readonly width: string;
  readonly hidden: boolean;
}

/** What Lua may say of a column; the words are those of the attributes. */
export type Told = Readonly<Record<string, unknown>>;

const KINDS = new Set(["text", "number", "date", "boolean"]);

/** The names of the columns that the author wrote, in order. */
export function namesOf(host: Element): string[] {
  const children = [...host.querySelectorAll(":scope > ui-column")].map((child) => child.getAttribute("name") ?? "");
  const listed = (host.getAttribute("columns") ?? "").split(/[\s,]+/);
  return (children.length > 0 ? children : listed).filter(Boolean);
}

/** The columns as the server names them, with the attributes of `ui-column` elements over what Lua says. */
export function columnsOf(host: Element, told: readonly Told[]): Column[] {
  return told.map((one) => {
    const name = String(one["name"]);
    return column(name, host.querySelector(`:scope > ui-column[name="${CSS.escape(name)}"]`), one);
  });
}

/** Whether a column is edited and totalled, before the server has named any. */
export function totalsOf(host: Element): Record<string, string> {
  const found = [...host.querySelectorAll(":scope > ui-column[total]")];
  return Object.fromEntries(found.map((child) => [child.getAttribute("name") ?? "", child.getAttribute("total") || "sum"]));
}

function column(name: string, child: Element | null, told: Told): Column {
  const text = (key: string): string => child?.getAttribute(key) ?? plain(told[key]);
  const flag = (key: string): boolean => (child?.hasAttribute(key) ? child.getAttribute(key) !== "false" : told[key] === true);
  const type = text("type");
  const options = text("options");
  return {
    name,
    label: text("label") || named(name),
    type: KINDS.has(type) ? (type as Kind) : "text",
    unit: text("unit"),
    decimals: text("decimals") === "" ? null : Number(text("decimals")),
    total: child?.hasAttribute("total") ? child.getAttribute("total") || "sum" : plain(told["total"]),
    edit: flag("edit"),
    required: flag("required"),
    min: text("min"),
    max: text("max"),
    options: options === "" ? [] : options.split("|").map((one) => one.trim()),
    width: text("width"),
    hidden: flag("hidden"),
  };
}

function plain(value: unknown): string {
  if (Array.isArray(value)) {
    return value.map(String).join("|");
  }
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** `unit_price` → `Unit price`. */
function named(name: string): string {
  const words = name.replaceAll("_", " ").replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The text of a cell. */
export function shown(value: Value, { type, unit, decimals }: Column): string {
  if (value === null || value === "") {
    return "";
  }
  if (typeof value === "boolean") {
    return value ? "Yes" : "No";
  }
  if (typeof value === "number" && type === "number") {
    return numberText(value, decimals, unit);
  }
  return String(value);
}

/** What was typed into a cell as a value, or why it is none. */
export function parsed(text: string, of: Column): { readonly value: Value } | { readonly problem: string } {
  const trimmed = text.trim();
  if (trimmed === "") {
    return of.required ? { problem: `${of.label} is needed.` } : { value: of.type === "text" ? "" : null };
  }
  if (of.options.length > 0 && !of.options.includes(trimmed)) {
    return { problem: `Choose one of ${of.options.join(", ")}.` };
  }
  if (of.type === "date" && !/^\d{4}-\d{2}-\d{2}$/.test(trimmed)) {
    return { problem: `“${trimmed}” is not a date, such as 2026-05-31.` };
  }
  if (of.type !== "number") {
    return checkedRange(of.type === "date" ? trimmed : text, of);
  }
  const number = Number(trimmed.replace(",", "."));
  return Number.isFinite(number) ? checkedRange(number, of) : { problem: `“${trimmed}” is not a number.` };
}

function checkedRange(value: string | number, { type, min, max, label }: Column): { value: Value } | { problem: string } {
  const below = min !== "" && (type === "number" ? Number(value) < Number(min) : type === "date" && String(value) < min);
  const above = max !== "" && (type === "number" ? Number(value) > Number(max) : type === "date" && String(value) > max);
  if (below) {
    return { problem: `${label} is at least ${min}.` };
  }
  return above ? { problem: `${label} is at most ${max}.` } : { value };
}
