/** `ui-class-X="path"`: the element has class X while the value is truthy. */
import { type Binding, readOnly } from "./binding";

export const classes: Binding = {
  attribute: "ui-class-",
  access: readOnly,
  bind({ element, argument }) {
    return { write: (value) => void element.classList.toggle(argument, Boolean(value)) };
  },
};
