/** Search, number of rows, menu of columns and CSV, above a table. */
import { iconButton, make } from "../base";
import { place } from "../popup";
import type { Column } from "./columns";

export interface ToolbarHooks {
  search(text: string): void;
  copy(): void;
  save(): void;
  show(name: string, visible: boolean): void;
}

export interface ToolbarState {
  readonly label: string;
  readonly search: boolean;
  readonly csv: boolean;
  readonly columns: readonly Column[];
  readonly hidden: ReadonlySet<string>;
}

const COPY = "M6 4.5h7v9H6zM3 11V2.5h7";
const SAVE = "M8 2v8m0 0 3-3m-3 3L5 7M2.5 13.5h11";
const COLUMNS = "M2.5 3h11v10h-11zM6 3v10M10 3v10";

export class Toolbar {
  readonly element = make("div.toolbar");
  private readonly field = make("input", { type: "search", placeholder: "Search" });
  private readonly rows = make("span.count");
  private readonly said = make("span.said", { role: "status" });
  private readonly copy: HTMLButtonElement;
  private readonly save: HTMLButtonElement;
  private readonly choose: HTMLButtonElement;
  private state: ToolbarState | null = null;

  constructor(private readonly hooks: ToolbarHooks) {
    this.copy = iconButton("Copy as CSV", COPY, () => hooks.copy());
    this.save = iconButton("Download CSV", SAVE, () => hooks.save());
    this.choose = iconButton("Columns", COLUMNS, () => this.openColumns());
    this.field.addEventListener("input", () => hooks.search(this.field.value));
    this.element.append(this.field, this.rows, this.said, this.choose, this.copy, this.save);
  }

  draw(state: ToolbarState): void {
    this.state = state;
    this.field.hidden = !state.search;
    this.field.setAttribute("aria-label", `Search ${state.label}`);
    this.copy.hidden = this.save.hidden = !state.csv;
    this.choose.hidden = !state.search && !state.csv;
    this.element.hidden = !state.search && !state.csv;
  }

  count(text: string): void {
    this.rows.textContent = text;
  }

  async toClipboard(text: string, said: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.said.textContent = said;
    } catch {
      this.said.textContent = "The browser does not let this page copy";
    }
    setTimeout(() => (this.said.textContent = ""), 3000);
  }

  private openColumns(): void {
    const { state } = this;
    if (state === null) {
      return;
    }
    const menu = make("div.menu", { role: "dialog", "aria-label": "Columns", popover: "auto" });
    for (const { name, label } of state.columns) {
      const box = make("input", { type: "checkbox", checked: !state.hidden.has(name) });
      box.addEventListener("change", () => this.hooks.show(name, box.checked));
      menu.append(make("label.choice", {}, box, label));
    }
    menu.addEventListener("toggle", (event) => {
      if ((event).newState === "closed") {
        menu.remove();
        this.choose.focus();
      }
    });
    this.element.append(menu);
    menu.showPopover();
    place(menu, this.choose);
    menu.querySelector("input")?.focus();
  }
}
