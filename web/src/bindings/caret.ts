/** Writes into a focused field without moving the caret. */

interface Selectable extends Element {
  value: unknown;
  readonly selectionStart?: number | null;
  readonly selectionEnd?: number | null;
  setSelectionRange(start: number, end: number): void;
}

/** Run `write`, then restore the selection if the element has the focus. */
export function writeKeepingCaret(element: Element, write: () => void): void {
  if (element.ownerDocument.activeElement !== element) {
    write();
    return;
  }
  const inner = (element.shadowRoot?.querySelector("input, textarea") ?? element) as Selectable;
  const selection = selectionOf(inner);
  const before = (element as Selectable).value;
  write();
  if (selection === null || (element as Selectable).value === before) {
    return;
  }
  const restore = (): void => inner.setSelectionRange(...selection);
  const { updateComplete } = element as { updateComplete?: Promise<unknown> };
  if (updateComplete === undefined) {
    restore();
  } else {
    void updateComplete.then(restore);
  }
}

function selectionOf(element: Selectable): [number, number] | null {
  try {
    const { selectionStart: start, selectionEnd: end } = element;
    return typeof start === "number" && typeof end === "number" ? [start, end] : null;
  } catch {
    return null;
  }
}
