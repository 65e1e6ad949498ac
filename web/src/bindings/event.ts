/** `ui-event-E="method()"`: DOM event E calls the method, after the element's own value has been sent. */
import type { Json } from "../protocol";
import { actionOnly, type Binding, listen } from "./binding";

export const event: Binding = {
  attribute: "ui-event-",
  access: actionOnly,
  bind({ element, argument, text, send, syncValue, liveValue }) {
    const release = listen(element, argument, (event) => {
      if (argument === "submit") {
        event.preventDefault(); // the browser would send the form itself and reload the page
      }
      syncValue();
      if (text.takesValue) {
        send(toldBy(event) ?? liveValue());
      } else {
        send();
      }
    });
    return { release };
  },
};

/** What an event of one of our elements is about. */
function toldBy(event: Event): Json | undefined {
  const detail: unknown = event instanceof CustomEvent ? event.detail : null;
  return typeof detail === "object" && detail !== null && "value" in detail ? (detail.value as Json) : undefined;
}
