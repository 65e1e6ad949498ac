import { expect, test } from "vitest";
import { writeKeepingCaret } from "../../src/bindings/caret";

test("the caret inside a component is restored after the component has rendered", async () => {
  class Field extends HTMLElement {
    updateComplete = Promise.resolve();
    readonly inner = document.createElement("input");
    constructor() {
      super();
      this.attachShadow({ mode: "open" }).append(this.inner);
    }
    get value(): string {
      return this.inner.value;
    }
    set value(text: string) {
      this.inner.value = text;
    }
  }
  customElements.define("x-field", Field);
  const field = new Field();
  field.tabIndex = 0;
  document.body.replaceChildren(field);
  field.value = "hello";
  field.focus();
  field.inner.setSelectionRange(2, 3);
  writeKeepingCaret(field, () => (field.value = "hello world"));
  await field.updateComplete;
  expect([field.value, field.inner.selectionStart, field.inner.selectionEnd]).toEqual(["hello world", 2, 3]);
});

test("a focused field without a selection is written as it is", () => {
  const box = document.createElement("input");
  box.type = "checkbox";
  document.body.replaceChildren(box);
  box.focus();
  writeKeepingCaret(box, () => (box.value = "x"));
  expect(box.value).toBe("x");
});
