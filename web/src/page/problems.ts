/** The list of what is wrong in the apps: a button with their number, which opens a panel. */
import { button, make } from "./markup";
import "./problems.css";

export interface Problem {
  readonly id: string;
  readonly kind: string;
  readonly level: string;
  readonly message: string;
  readonly app?: string;
  readonly file?: string;
  readonly line?: number;
  readonly expression?: string;
  readonly hint?: string;
  readonly source?: string;
}

const ANNOUNCED_MS = 8000;
const KINDS: Record<string, string> = {
  action: "Action",
  attribute: "Attribute",
  binding: "Binding",
  code: "ui-code",
  conflict: "Conflict",
  icon: "Icon",
  load: "File",
  script: "Script",
  tag: "Tag",
  timer: "Timer",
  viewdef: "Viewdef",
};

let shown: Problem[] = [];
const dismissed = new Set<string>();
let timer = 0;

/** Read the list that the server sends. */
export function parseProblems(json: string): Problem[] {
  return JSON.parse(json) as Problem[];
}

/** Show these problems instead of the earlier ones; a new one is announced for some seconds. */
export function showProblems(problems: readonly Problem[]): void {
  const known = new Set(shown.map(identity));
  const ids = new Set(problems.map(identity));
  for (const one of dismissed) {
    if (!ids.has(one)) {
      dismissed.delete(one);
    }
  }
  shown = problems.filter((one) => !dismissed.has(identity(one)));
  const fresh = shown.findLast((one) => !known.has(identity(one)));
  render(fresh);
}

function identity(problem: Problem): string {
  return `${problem.id} ${problem.message}`;
}

function render(fresh?: Problem): void {
  const corner = document.querySelector<HTMLElement>(".ui-problems") ?? makeCorner();
  corner.hidden = shown.length === 0;
  const count = shown.length === 1 ? "1 problem" : `${shown.length} problems`;
  part(corner, ".ui-problems-open").textContent = count;
  part(corner, ".ui-problems-open").classList.toggle("ui-problems-warning", shown.every((one) => one.level === "warning"));
  part(corner, ".ui-problems-list").replaceChildren(...shown.map(entry));
  if (shown.length === 0) {
    setOpen(corner, false);
  }
  if (fresh !== undefined) {
    announce(part(corner, ".ui-problems-news"), fresh);
  }
}

function announce(news: HTMLElement, problem: Problem): void {
  news.textContent = `${placeOf(problem)}${problem.message}${problem.hint === undefined ? "" : ` ${problem.hint}`}`;
  clearTimeout(timer);
  timer = window.setTimeout(() => (news.textContent = ""), ANNOUNCED_MS);
}

function placeOf({ app, file, line }: Problem): string {
  const place = file ?? app ?? "";
  return place === "" ? "" : `${place}${line === undefined ? "" : `:${line}`}: `;
}

function makeCorner(): HTMLElement {
  const corner = make("div", "ui-problems");
  const news = make("div", "ui-problems-news");
  news.setAttribute("role", "status");
  const open = button("", () => setOpen(corner, panel.hidden !== false), "ui-problems-open");
  open.setAttribute("aria-expanded", "false");
  const panel = make("section", "ui-problems-panel");
  panel.hidden = true;
  panel.setAttribute("aria-label", "Problems");
  const head = make("div", "ui-problems-head", make("h2", "", "Problems"));
  const copy = button("Copy", () => void navigator.clipboard.writeText(shown.map(asText).join("\n\n")), "ui-problems-copy");
  const dismiss = button("Dismiss all", dismissAll, "ui-problems-dismiss");
  head.append(copy, dismiss);
  const list = make("ul", "ui-problems-list");
  list.tabIndex = 0; // it scrolls, also by keyboard
  panel.append(head, list, make("p", "ui-problems-hint", "The agent has been told. Entries go away when they are fixed."));
  corner.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      setOpen(corner, false);
      open.focus();
    }
  });
  corner.append(panel, news, open);
  document.body.append(corner);
  return corner;
}

function setOpen(corner: HTMLElement, open: boolean): void {
  part(corner, ".ui-problems-panel").hidden = !open;
  part(corner, ".ui-problems-open").setAttribute("aria-expanded", String(open));
  part(corner, ".ui-problems-news").hidden = open;
}

function dismissAll(): void {
  for (const one of shown) {
    dismissed.add(identity(one));
  }
  shown = [];
  render();
}

function entry(problem: Problem): HTMLElement {
  const item = make("li", `ui-problem ui-problem-${problem.level}`);
  const title = make("div", "ui-problem-title", make("b", "", KINDS[problem.kind] ?? problem.kind));
  title.append(` ${problem.app ?? ""}`);
  item.append(title, make("div", "ui-problem-message", problem.message));
  if (problem.hint !== undefined) {
    item.append(make("div", "ui-problem-hint", problem.hint));
  }
  for (const text of [problem.expression, placeOf(problem).replace(/: $/, ""), problem.source]) {
    if (text !== undefined && text !== "") {
      item.append(make("code", "", text));
    }
  }
  return item;
}

function asText(problem: Problem): string {
  const lines = [`${placeOf(problem)}${problem.message}`, problem.hint, problem.expression, problem.source];
  return lines.filter((line) => line !== undefined && line !== "").join("\n");
}

function part(corner: HTMLElement, selector: string): HTMLElement {
  const found = corner.querySelector<HTMLElement>(selector);
  if (found === null) {
    throw new Error(`no ${selector}`);
  }
  return found;
}
