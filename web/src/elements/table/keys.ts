/** What a key does in a grid; pure. */

export interface Place {
  readonly row: number;
  readonly column: number;
  readonly rows: number;
  readonly columns: number;
  /** Rows that fit into the view. */
  readonly page: number;
}

export type KeyAct =
  | { readonly kind: "move"; readonly row: number; readonly column: number }
  | { readonly kind: "enter" | "menu" | "select" | "copy" };

type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">;

/** Null for keys that are not the grid's. Row −1 is the heading. */
export function gridKey(pressed: Pressed, at: Place): KeyAct | null {
  const ctrl = pressed.ctrlKey || pressed.metaKey;
  if (pressed.altKey) {
    return pressed.key === "ArrowDown" ? { kind: "menu" } : null;
  }
  if (ctrl && pressed.key.toLowerCase() === "c") {
    return { kind: "copy" };
  }
  if (pressed.key === "Enter" || pressed.key === "F2") {
    return { kind: "enter" };
  }
  if (pressed.key === " ") {
    return at.row < 0 ? { kind: "enter" } : { kind: "select" };
  }
  const to = target(pressed.key, ctrl, at);
  return to && { kind: "move", row: clamp(to[0], -1, at.rows - 1), column: clamp(to[1], 0, at.columns - 1) };
}

function target(key: string, ctrl: boolean, { row, column, rows, columns, page }: Place): [number, number] | null {
  switch (key) {
    case "ArrowDown":
      return [row + 1, column];
    case "ArrowUp":
      return [row - 1, column];
    case "ArrowRight":
      return [row, column + 1];
    case "ArrowLeft":
      return [row, column - 1];
    case "PageDown":
      return [row + page, column];
    case "PageUp":
      return [Math.max(0, row - page), column];
    case "Home":
      return ctrl ? [0, 0] : [row, 0];
    case "End":
      return ctrl ? [rows - 1, columns - 1] : [row, columns - 1];
    default:
      return null;
  }
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(value, high));
}
