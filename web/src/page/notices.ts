/** Short messages to the user at the edge of the page. */
import { button, make } from "./markup";

const VISIBLE_MS = 8000;

/** Show a notice unless the same text is shown already. Errors stay until they are dismissed. */
export function notify(level: string, text: string): void {
  if (noticesSaying(text).length > 0) {
    return;
  }
  const note = make("div", `ui-notice ui-notice-${level}`, make("span", "ui-notice-text", text));
  note.setAttribute("role", level === "error" ? "alert" : "status");
  const dismiss = button("×", () => note.remove(), "ui-notice-close");
  dismiss.setAttribute("aria-label", "Dismiss");
  note.append(dismiss);
  container().append(note);
  if (level !== "error") {
    setTimeout(() => note.remove(), VISIBLE_MS);
  }
}

/** Remove every notice with this text. */
export function removeNotice(text: string): void {
  for (const shown of noticesSaying(text)) {
    shown.parentElement?.remove();
  }
}

function noticesSaying(text: string): Element[] {
  return [...container().querySelectorAll(".ui-notice-text")].filter((shown) => shown.textContent === text);
}

function container(): Element {
  const present = document.querySelector(".ui-notices");
  if (present !== null) {
    return present;
  }
  const made = make("div", "ui-notices");
  made.setAttribute("aria-live", "polite");
  document.body.append(made);
  return made;
}
