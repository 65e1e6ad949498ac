/** Loads the bundled typeface: after the app is shown, or at once when this browser has it in its cache. */

const SEEN = "typeface";

export function loadTypeface(whenIdle: (act: () => void) => void): void {
  if (seen()) {
    link();
  } else {
    whenIdle(link);
  }
}

function link(): void {
  const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/look/typeface.css" });
  sheet.addEventListener("load", remember);
  document.head.append(sheet);
}

function seen(): boolean {
  try {
    return localStorage.getItem(SEEN) !== null;
  } catch {
    return false;
  }
}

function remember(): void {
  try {
    localStorage.setItem(SEEN, "1");
  } catch {
    // Opaque origins have no storage; the typeface then always comes late.
  }
}
