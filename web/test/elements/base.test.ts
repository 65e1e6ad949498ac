import { expect, it } from "vitest";
import { fieldOf } from "../../src/bindings/fields";
import { UiElement } from "../../src/elements/base";

it("takes every value that was written before it was loaded, in order", () => {
  const element = document.createElement("ui-late");
  document.body.append(element);
  const field = fieldOf(element);
  field.write(element, { rows: [1] });
  field.write(element, { append: [2] });

  const taken: unknown[] = [];
  class Late extends UiElement {
    protected override received(value: unknown): void {
      taken.push(value);
    }

    protected render(): void {}
  }
  customElements.define("ui-late", Late);
  field.write(element, { append: [3] });

  expect(taken).toEqual([{ rows: [1] }, { append: [2] }, { append: [3] }]);
});
