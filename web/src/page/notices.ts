/** Short messages to the user at the edge of the page. */
import { button, make } from "./markup";
import { placeFreely } from "./notice_place";

const VISIBLE_MS = 8000;
/** How often the app may have moved its controls below a notice. */
const PLACE_MS = 400;

/** Show a notice unless the same text is shown already. Errors stay until they are dismissed. */
export function notify(level: string, text: string): void {
  if (noticesSaying(text).length > 0) {
    return;
  }
  const note = make("div", `ui-notice ui-notice-${level}`, make("span", "ui-notice-text", text));
  note.setAttribute("role", level === "error" ? "alert" : "status");
  const dismiss = button("×", () => note.remove(), "ui-notice-close");
  dismiss.setAttribute("aria-label", "Dismiss");
  if (text.includes("\n")) {
    note.append(disclosure(note));
  }
  note.append(dismiss);
  const notices = container();
  notices.append(note);
  keepFree(notices);
  if (level !== "error") {
    setTimeout(() => note.remove(), VISIBLE_MS);
  }
}

/** A notice of several lines shows the first until it is opened, so that it leaves the app visible. */
function disclosure(note: HTMLElement): HTMLElement {
  const more = button("More", () => {
    const open = note.classList.toggle("ui-notice-open");
    more.textContent = open ? "Less" : "More";
    more.setAttribute("aria-expanded", String(open));
  }, "ui-notice-more");
  more.setAttribute("aria-expanded", "false");
  note.classList.add("ui-notice-long");
  return more;
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

let placing = 0;

/** Keep the notices off the app's controls as long as there are any. */
function keepFree(notices: HTMLElement): void {
  placeFreely(notices);
  placing ||= window.setInterval(() => {
    if (notices.childElementCount === 0) {
      clearInterval(placing);
      placing = 0;
    } else {
      placeFreely(notices);
    }
  }, PLACE_MS);
}

function container(): HTMLElement {
  const present = document.querySelector<HTMLElement>(".ui-notices");
  if (present !== null) {
    return present;
  }
  const made = make("div", "ui-notices");
  made.setAttribute("aria-live", "polite");
  document.body.append(made);
  return made;
}
