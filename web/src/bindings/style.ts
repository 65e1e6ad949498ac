/** `ui-style-PROP="path"`: set one style property; null removes it. */
import { type Binding, readOnly, textOf } from "./binding";

export const style: Binding = {
  attribute: "ui-style-",
  access: readOnly,
  bind({ element, argument }) {
    const { style: sheet } = element as HTMLElement;
    return {
      write(value) {
        if (value === null) {
          sheet.removeProperty(argument);
        } else {
          sheet.setProperty(argument, textOf(value));
        }
      },
    };
  },
};
