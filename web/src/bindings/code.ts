/** `ui-code="path"`: a non-empty string is run as a function body with `element, value, variable, store`. */
import { runCode } from "../view/scripts";
import { type Binding, readOnly } from "./binding";

export const code: Binding = {
  attribute: "ui-code",
  access: readOnly,
  bind({ element, variable, report }) {
    return {
      write(value) {
        if (typeof value !== "string" || value === "") {
          return;
        }
        runCode(() => {
        try {
          // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call -- running the author's code is what ui-code is for
          new Function("element", "value", "variable", "store", value)(element, value, variable(), window.uiStore);
        } catch (error) {
          console.error("ui-code failed", error);
          report(String(error));
        }
        });
      },
    };
  },
};
