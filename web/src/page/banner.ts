/** The banner that says the server is out of reach, or back. */
import type { Status } from "../transport/connection";
import { button, make } from "./markup";

/** The server is back sooner than this after a restart: a banner would only flicker. */
const SHOW_AFTER_MS = 600;
const VISIBLE_MS = 2500;

/** Return a function that shows a connection status, by the banner and by a class on `<html>`. */
export function banner(retry: () => void): (status: Status) => void {
  const text = make("span", "", "");
  const bar = make("div", "ui-banner", make("span", "ui-banner-dot"), text);
  const tryNow = button("Try now", retry, "ui-banner-button");
  bar.setAttribute("role", "status");
  let timer: ReturnType<typeof setTimeout> | undefined;
  const root = document.documentElement;
  const show = (): void => {
    document.body.append(bar);
    root.classList.add("ui-banner-shown"); // the bar of the shell makes room for it
  };
  const hide = (): void => {
    bar.remove();
    root.classList.remove("ui-banner-shown");
  };
  const lost = (): void => {
    text.textContent = "The server cannot be reached. Retrying…";
    bar.classList.remove("ui-banner-good");
    bar.append(tryNow);
    show();
  };
  const back = (): void => {
    text.textContent = "Connected again.";
    bar.classList.add("ui-banner-good");
    tryNow.remove();
    timer = setTimeout(hide, VISIBLE_MS);
  };
  return (status) => {
    clearTimeout(timer);
    root.classList.toggle("ui-disconnected", status === "lost");
    if (status === "lost") {
      timer = setTimeout(lost, SHOW_AFTER_MS);
    } else if (status === "open" && bar.isConnected) {
      back();
    } else {
      hide();
    }
  };
}
