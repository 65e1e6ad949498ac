/** The field in which a cell is changed. */
import { make } from "../base";
import { type Column, parsed, type Value } from "./columns";
import type { Edited } from "./data";
import type { Place } from "./grid";

interface Editor {
  readonly element: HTMLElement;
  focus(): void;
  /** Show why the value was not taken. */
  refuse(problem: string): void;
}

interface EditorHooks {
  readonly save: (value: Value) => void;
  readonly cancel: () => void;
}

/** Without it, a year of six digits can be typed. */
const LAST_DATE = "9999-12-31";

/** Enter and leaving save, Escape leaves the cell as it was. */
function cellEditor(column: Column, value: Value, { save, cancel }: EditorHooks): Editor {
  const field = fieldFor(column, value);
  const problem = make("div.problem", { role: "alert" });
  const element = make("div.editor", {}, field, problem);
  let done = false;
  const refuse = (text: string): void => {
    done = false;
    problem.textContent = text;
    field.setAttribute("aria-invalid", "true");
  };
  const commit = (leaving: boolean): void => {
    if (done) {
      return;
    }
    const read = column.type === "boolean" ? { value: (field as HTMLInputElement).checked } : parsed(field.value, column);
    if ("problem" in read) {
      if (!leaving) {
        refuse(read.problem);
        return;
      }
      done = true;
      cancel();
    } else {
      done = true;
      if (read.value === value) {
        cancel();
      } else {
        save(read.value);
      }
    }
  };
  field.addEventListener("keydown", (event) => {
    const key = (event as KeyboardEvent).key;
    if (key === "Enter") {
      event.preventDefault();
      commit(false);
    } else if (key === "Escape") {
      done = true;
      cancel();
    }
    event.stopPropagation();
  });
  field.addEventListener("blur", () => commit(true));
  return {
    element,
    focus() {
      field.focus();
      if (field instanceof HTMLInputElement && field.type === "text") {
        field.select();
      }
    },
    refuse,
  };
}

function fieldFor(column: Column, value: Value): HTMLInputElement | HTMLSelectElement {
  const label = { "aria-label": column.label };
  if (column.options.length > 0) {
    const options = column.options.map((text) => make("option", { selected: text === String(value ?? "") }, text));
    return make("select", label, ...options);
  }
  if (column.type === "boolean") {
    return make("input", { ...label, type: "checkbox", checked: value === true });
  }
  const type = column.type === "date" ? "date" : "text";
  const mode = column.type === "number" ? { inputmode: "decimal" } : column.type === "date" ? { min: column.min, max: column.max || LAST_DATE } : {};
  return make("input", { ...label, ...mode, type, value: String(value ?? ""), required: column.required });
}

/** The cell that is being changed, until the server has taken the value. */
export class Editing {
  private now: { editor: Editor; row: number; column: string; cell: HTMLElement; place: Place } | null = null;

  constructor(
    private readonly send: (row: number, column: string, value: Value) => void,
    /** The cell shows its value again; tells whether it had the focus. */
    private readonly ended: (place: Place, focused: boolean) => void,
  ) {}

  get active(): boolean {
    return this.now !== null;
  }

  start(place: Place, cell: HTMLElement, row: number, column: Column, value: Value): void {
    const editor = cellEditor(column, value, {
      save: (next) => this.send(row, column.name, next),
      cancel: () => this.end(),
    });
    this.now = { editor, row, column: column.name, cell, place };
    cell.classList.add("editing");
    cell.replaceChildren(editor.element);
    editor.focus();
  }

  /** The server's answer; returns whether it took the value of this cell. */
  answered({ row, column, problem }: Edited): boolean {
    if (this.now?.row !== row || this.now.column !== column) {
      return false;
    }
    if (problem !== null) {
      this.now.editor.refuse(problem);
      this.now.editor.focus();
      return false;
    }
    this.end();
    return true;
  }

  private end(): void {
    const { now } = this;
    this.now = null;
    now?.cell.classList.remove("editing");
    if (now !== null) {
      const focused = now.cell.contains((now.cell.getRootNode() as ShadowRoot).activeElement);
      now.cell.replaceChildren();
      this.ended(now.place, focused);
    }
  }
}
