/** `ui-action="method()"`: a click calls the method; `method(_)` gets the element's value. */
import { actionOnly, type Binding, listen } from "./binding";

export const action: Binding = {
  attribute: "ui-action",
  access: actionOnly,
  bind({ element, text, send, liveValue }) {
    const release = listen(element, "click", (event) => {
      event.preventDefault();
      if (text.takesValue) {
        send(liveValue());
      } else {
        send();
      }
    });
    return { release };
  },
};
