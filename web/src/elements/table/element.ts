/** `ui-table`: shows a Lua list as a grid; sorting, searching, grouping and the choice of rows are done by the server. */
import { download, make, styleSheet, UiElement } from "../base";
import { Editing } from "./cell_editor";
import { openColumnMenu } from "./column_menu";
import { columnsOf, namesOf, totalsOf } from "./columns";
import { type Edited, type Group, isGroup, type Query, reference, type Row, type Rows } from "./data";
import { drawPager } from "./foot";
import { Grid, HEAD, type Place, ROW_HEIGHT } from "./grid";
import { Head } from "./head";
import { gridKey } from "./keys";
import { Layout } from "./layout";
import { Selection } from "./selection";
import { Toolbar } from "./toolbar";
import css from "./table.css?inline";

const sheet = styleSheet(css);
const FIRST_ROWS = 60;
const MOST_ROWS = 500;
const UNCONFIGURED = "||||{}";

class UiTable extends UiElement {
  private data: Rows | null = null;
  private readonly layout = new Layout();
  private query: Query = { sort: "", descending: false, search: "", filters: {}, group: "", closed: [] };
  private serial = 0;
  /** Answers to older questions are not shown. */
  private needed = 0;
  private asked = { from: 0, count: 0 };
  private configured = UNCONFIGURED;
  private page = 0;
  private readonly selection = new Selection();
  private readonly editing = new Editing(
    (row, column, value) => this.ask({ edit: { row, column, value } }),
    (place, focused) => {
      this.grid.drawRows();
      if (focused) {
        this.grid.focus(place);
      }
    },
  );
  private waitingFor: "copy" | "download" | "all" | null = null;
  private readonly grid: Grid;
  private readonly toolbar: Toolbar;
  private readonly state = make("div.state", { role: "status" });
  private readonly pager = make("nav.pager", { "aria-label": "Pages" });
  private readonly live = make("div.quiet", { "aria-live": "polite" });
  private readonly resized = new ResizeObserver(() => this.grid.drawRows());

  constructor() {
    super(sheet);
    const head = new Head({
      sort: (name) => this.sortBy(name),
      menu: (name, cell) => this.openMenu(name, cell),
      resize: (name, width) => this.arrange((layout) => layout.resize(name, width)),
      move: (name, before) => this.arrange((layout) => layout.move(name, before)),
      all: (checked) => this.selectAll(checked),
    });
    this.toolbar = new Toolbar({
      search: (text) => this.change({ search: text }),
      copy: () => this.export("copy"),
      save: () => this.export("download"),
      show: (name, visible) => this.arrange((layout) => layout.show(name, visible)),
    });
    this.grid = new Grid(head, (first, last) => this.fetchAround(first, last));
    this.root.append(this.toolbar.element, this.grid.frame, this.state, this.pager, this.live);
    this.grid.element.addEventListener("keydown", (event) => this.onKey(event));
    this.grid.element.addEventListener("click", (event) => this.onClick(event));
    this.grid.element.addEventListener("dblclick", (event) => {
      const at = this.grid.placeOf(event);
      if (at !== null && at.row !== HEAD && !this.editing.active && !this.startEdit(at)) {
        this.openRow(at.row);
      }
    });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.resized.observe(this.grid.element);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.resized.disconnect();
  }

  protected override configure(): void {
    const now = `${this.option("sort")}|${this.option("group")}|${this.option("page")}|${namesOf(this).join()}|${JSON.stringify(totalsOf(this))}`;
    if (now !== this.configured) {
      this.configured = now;
      const [sort = "", direction = ""] = this.option("sort").trim().split(/\s+/);
      this.query = { ...this.query, sort, descending: direction === "desc", group: this.option("group") };
      this.refresh();
    }
    super.configure();
  }

  protected override received(value: unknown): void {
    if (typeof value !== "object" || value === null) {
      return;
    }
    if ("edited" in value) {
      this.edited(value.edited as Edited);
    } else if ("csv" in value) {
      this.exported(String(value.csv));
    } else if ("ids" in value) {
      this.selectIds(value.ids as number[]);
    } else if ("rows" in value) {
      this.take(value as Rows);
    }
  }

  private take(data: Rows): void {
    if (data.serial < this.needed) {
      if (data.serial === 0) {
        this.refresh(); // the server has begun anew and does not know what was asked
      }
      return;
    }
    this.data = data;
    this.layout.columns = columnsOf(this, data.columns);
    this.draw();
  }

  // Questions to the server

  /** Ask for rows; `same` keeps what the server has sorted. */
  private request(from: number, count: number, same: boolean): void {
    this.serial += 1;
    this.asked = { from, count };
    if (!same) {
      this.needed = this.serial;
    }
    this.ask({ ...this.query, serial: this.serial, from, count, same, columns: namesOf(this), totals: totalsOf(this) });
  }

  private refresh(): void {
    const size = this.pageSize();
    this.request(this.page * size, size > 0 ? size : FIRST_ROWS, false);
  }

  private change(query: Partial<Query>): void {
    this.query = { ...this.query, ...query };
    this.page = 0;
    this.grid.element.scrollTop = 0;
    this.refresh();
  }

  private pageSize(): number {
    return Math.max(0, Math.floor(Number(this.option("page", "0")) || 0));
  }

  /** Ask for the rows around those in view before they are reached. */
  private fetchAround(first: number, last: number): void {
    const { data } = this;
    const covered = (from: number, count: number): boolean => first >= from && last < from + count;
    if (data === null || data.length === 0 || covered(data.from, data.rows.length)) {
      return;
    }
    if (this.serial > data.serial && covered(this.asked.from, this.asked.count)) {
      return; // it is on its way
    }
    const height = last - first + 1;
    this.request(Math.max(0, first - height), Math.min(MOST_ROWS, height * 3), true);
  }

  // Drawing

  protected render(): void {
    const { data, layout } = this;
    const label = this.option("label", "Table");
    const shows = { search: this.hasAttribute("search"), csv: this.hasAttribute("csv") };
    this.toolbar.draw({ label, ...shows, columns: layout.columns, hidden: layout.hidden });
    this.grid.element.setAttribute("aria-label", label);
    this.grid.element.hidden = data === null;
    this.pager.hidden = data === null;
    this.state.textContent = data === null ? "Loading…" : this.nothing(data);
    this.state.hidden = this.state.textContent === "";
    if (data === null) {
      return;
    }
    const all = `${data.all.toLocaleString()} ${data.all === 1 ? "row" : "rows"}`;
    this.toolbar.count(data.matching === data.all ? all : `${data.matching.toLocaleString()} of ${all}`);
    this.grid.draw({
      data, layout, query: this.query, select: this.option("select"), selected: this.selection.ids, actions: this.actions(),
      paged: this.pageSize() > 0, height: this.option("height", "30rem"),
    });
    drawPager(this.pager, data, this.pageSize(), (page) => {
      this.page = page;
      this.request(page * this.pageSize(), this.pageSize(), true);
    });
  }

  private nothing({ length, all }: Rows): string {
    return length > 0 ? "" : all > 0 ? "Nothing matches." : this.option("empty", "Nothing here yet.");
  }

  private actions(): Element[] {
    return [...this.querySelectorAll(":scope > button")];
  }

  private arrange(act: (layout: Layout) => void): void {
    act(this.layout);
    this.draw();
  }

  private sortBy(name: string): void {
    const again = this.query.sort === name;
    this.change(again && this.query.descending ? { sort: "", descending: false } : { sort: name, descending: again });
    this.live.textContent = this.query.sort === "" ? "Not sorted" : `Sorted by ${name}, ${this.query.descending ? "down" : "up"}`;
  }

  private openMenu(name: string, heading: HTMLElement): void {
    const column = this.layout.columns.find((one) => one.name === name);
    if (column === undefined) {
      return;
    }
    openColumnMenu(this.root, heading, column, this.query, {
      sort: (descending) => this.change({ sort: name, descending }),
      filter: (text) => this.change({ filters: { ...this.query.filters, [name]: text } }),
      group: () => this.change({ group: this.query.group === name ? "" : name, closed: [] }),
      hide: () => this.arrange((layout) => layout.show(name, false)),
      move: (by) => this.arrange((layout) => layout.step(name, by)),
      resize: (by) => this.arrange((layout) => layout.resize(name, (layout.widthOf(name) ?? heading.offsetWidth) + by)),
      closed: () => this.grid.focus({ row: HEAD, column: Math.max(0, this.layout.names().indexOf(name)) + this.checks() }),
    });
  }

  /** Columns before those of the data. */
  private checks(): number {
    return this.option("select") === "many" ? 1 : 0;
  }

  // Keyboard and pointer

  private onClick(event: MouseEvent): void {
    const at = this.grid.placeOf(event);
    const item = at === null || at.row === HEAD ? null : this.item(at.row);
    if (at === null || item === null || this.editing.active) {
      return;
    }
    if (isGroup(item)) {
      this.toggle(item);
      return;
    }
    const target = event.target as Element;
    const button = target.closest("button");
    if (button !== null) {
      this.press([...(button.parentElement?.children ?? [])].indexOf(button), item);
      return;
    }
    if (target.closest(".check") !== null || this.option("select") === "one") {
      this.select(item);
    }
    if (!(target instanceof HTMLInputElement)) {
      this.grid.focus(at);
    }
  }

  private onKey(event: KeyboardEvent): void {
    const at = this.grid.placeOf(event);
    if (at === null || this.editing.active || this.data === null) {
      return;
    }
    const page = Math.max(1, Math.floor(this.grid.viewport().height / ROW_HEIGHT) - 1);
    const key = gridKey(event, { ...at, rows: this.data.length, columns: this.grid.columns, page });
    if (key === null) {
      return;
    }
    event.preventDefault();
    if (key.kind === "move") {
      this.grid.focus(key);
    } else if (key.kind === "select") {
      this.selectAt(at.row);
    } else if (key.kind === "copy") {
      void this.toolbar.toClipboard(this.grid.textsOf(at.row).join("\t"), "Row copied");
    } else {
      this.pressKey(at, event);
    }
  }

  private pressKey(at: Place, event: KeyboardEvent): void {
    const item = at.row === HEAD ? null : this.item(at.row);
    if (at.row === HEAD) {
      (this.grid.cellAt(at)?.querySelector<HTMLElement>(event.altKey ? ".more" : "input") ?? this.grid.cellAt(at))?.click();
    } else if (item !== null && isGroup(item)) {
      this.toggle(item);
    } else {
      const inner = this.grid.cellAt(at)?.querySelector<HTMLElement>("button,input");
      if (inner) {
        inner.click();
      } else if (!this.startEdit(at)) {
        this.openRow(at.row);
      }
    }
  }

  private item(index: number): Row | Group | null {
    return this.data?.rows[index - this.data.from] ?? null;
  }

  private openRow(index: number): void {
    const item = this.item(index);
    if (item !== null && !isGroup(item)) {
      this.tell("open", reference(item));
    }
  }

  private toggle(group: Group): void {
    const closed = this.query.closed.filter((name) => name !== group.group);
    this.query = { ...this.query, closed: group.open ? [...closed, group.group] : closed };
    this.refresh();
  }

  /** Press the author's button with the row as its value, which its `ui-action` sends. */
  private press(at: number, row: Row): void {
    const original = this.actions()[at] as HTMLElement | undefined;
    if (original !== undefined) {
      Object.defineProperty(original, "value", { value: reference(row), configurable: true });
      original.click();
    }
  }

  // Selection

  private selectAt(index: number): void {
    const item = index === HEAD ? null : this.item(index);
    if (item !== null && !isGroup(item) && this.option("select") !== "") {
      this.select(item);
    }
  }

  private select(row: Row): void {
    this.selection.toggle(row, this.option("select") === "one");
    this.selectionChanged();
  }

  private selectAll(checked: boolean): void {
    if (checked) {
      this.waitingFor = "all";
      this.ask({ ids: true });
    } else {
      this.selection.replace([]);
      this.selectionChanged();
    }
  }

  private selectIds(ids: readonly number[]): void {
    if (this.waitingFor === "all") {
      this.waitingFor = null;
      this.selection.replace(ids);
      this.selectionChanged();
    }
  }

  private selectionChanged(): void {
    this.live.textContent = `${this.selection.size} selected`;
    this.tell("select", this.selection.values());
    this.draw();
  }

  // Editing

  private startEdit(at: Place): boolean {
    const item = this.item(at.row);
    const found = this.layout.visible()[at.column - this.checks()];
    const cell = this.grid.cellAt(at);
    if (item === null || isGroup(item) || !found?.column.edit || cell === null) {
      return false;
    }
    this.editing.start(at, cell, item[0], found.column, item[found.at + 1] ?? null);
    return true;
  }

  private edited(answer: Edited): void {
    if (this.editing.answered(answer)) {
      this.tell("change", answer.row > 0 ? { obj: answer.row } : null);
    }
  }

  // Copies

  private export(how: "copy" | "download"): void {
    const columns = this.layout.visible().map(({ column }) => column);
    this.waitingFor = how;
    this.ask({ csv: columns.map(({ name }) => name), labels: columns.map(({ label }) => label) });
  }

  private exported(csv: string): void {
    const how = this.waitingFor;
    this.waitingFor = null;
    if (how === "download") {
      download(`${this.option("label", "table").toLowerCase().replace(/[^\w-]+/g, "-")}.csv`, "text/csv;charset=utf-8", csv);
    } else if (how === "copy") {
      void this.toolbar.toClipboard(csv, "Copied as CSV");
    }
  }
}

customElements.define("ui-table", UiTable);
