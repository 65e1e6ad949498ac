/** `ui-attr-X="path"`: set attribute X to the value's text; null and false remove it. */
import { type Binding, readOnly } from "./binding";

export const attr: Binding = {
  attribute: "ui-attr-",
  access: readOnly,
  bind({ element, argument }) {
    return {
      write(value) {
        if (value === null || value === false) {
          element.removeAttribute(argument);
        } else {
          element.setAttribute(argument, typeof value === "object" ? JSON.stringify(value) : String(value));
        }
      },
    };
  },
};
