/** Says that the server cannot be reached, and that it has come back. */
import type { Status } from "../transport/connection";
import { button, make } from "./markup";

/** A reload of the server is over before a banner would be read. */
const PATIENCE_MS = 600;

/** Follow the connection's status with a class on `<html>` and a banner. */
export function banner(retry: () => void): (status: Status) => void {
  const bar = make("div", "ui-banner", make("span", "ui-banner-dot"), make("span", "", "Connection lost. Trying to reach the server…"));
  bar.setAttribute("role", "status");
  bar.append(button("Try now", retry, "ui-banner-button"));
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (status) => {
    clearTimeout(timer);
    document.documentElement.classList.toggle("ui-disconnected", status === "lost");
    if (status === "lost") {
      timer = setTimeout(() => document.body.append(bar), PATIENCE_MS);
    } else {
      bar.remove();
    }
  };
}
