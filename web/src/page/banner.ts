/** Says that the server cannot be reached, and that it has come back. */
import type { Status } from "../transport/connection";
import { button, make } from "./markup";

/** A reload of the server is over before a banner would be read. */
const PATIENCE_MS = 600;
const STAYS_MS = 2500;

/** Follow the connection's status with a class on `<html>` and a banner. */
export function banner(retry: () => void): (status: Status) => void {
  const words = make("span", "", "");
  const bar = make("div", "ui-banner", make("span", "ui-banner-dot"), words);
  const again = button("Try now", retry, "ui-banner-button");
  bar.setAttribute("role", "status");
  let timer: ReturnType<typeof setTimeout> | undefined;
  const lost = (): void => {
    words.textContent = "The server cannot be reached. Trying again…";
    bar.classList.remove("ui-banner-good");
    bar.append(again);
    document.body.append(bar);
  };
  const back = (): void => {
    words.textContent = "Connected again.";
    bar.classList.add("ui-banner-good");
    again.remove();
    timer = setTimeout(() => bar.remove(), STAYS_MS);
  };
  return (status) => {
    clearTimeout(timer);
    document.documentElement.classList.toggle("ui-disconnected", status === "lost");
    if (status === "lost") {
      timer = setTimeout(lost, PATIENCE_MS);
    } else if (status === "open" && bar.isConnected) {
      back();
    } else {
      bar.remove();
    }
  };
}
