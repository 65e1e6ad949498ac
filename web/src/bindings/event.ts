/** `ui-event-E="method()"`: DOM event E calls the method, after the element's own value has been sent. */
import { actionOnly, type Binding, listen } from "./binding";

export const event: Binding = {
  attribute: "ui-event-",
  access: actionOnly,
  bind({ element, argument, text, send, syncValue, liveValue }) {
    const release = listen(element, argument, () => {
      syncValue();
      if (text.takesValue) {
        send(liveValue());
      } else {
        send();
      }
    });
    return { release };
  },
};
