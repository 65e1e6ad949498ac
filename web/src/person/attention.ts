/** Draws the person's attention to waiting questions: the number on the page's icon, and notifications. */
import { button, make } from "../nlui/dom";
import { isPhonePage } from "./client";

/** Show a number on the tab's icon and, where the page is installed, on the program's icon. */
export function badge(count: number): void {
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (icon) {
    icon.href = count ? `data:image/svg+xml,${encodeURIComponent(drawn(count))}` : "data:,";
  }
  // Neither every browser nor every page has these.
  const program: Partial<Pick<Navigator, "setAppBadge" | "clearAppBadge">> = navigator;
  void (count ? program.setAppBadge?.(count) : program.clearAppBadge?.())?.catch(() => undefined);
}

function drawn(count: number): string {
  const text = count > 99 ? "99+" : String(count);
  const size = { 1: 22, 2: 18 }[text.length] ?? 13;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="16" fill="#c42b1c"/><text x="16" y="17" fill="#fff" font-family="sans-serif" font-weight="700" font-size="${size}" text-anchor="middle" dominant-baseline="middle">${text}</text></svg>`;
}

/** Tell of a new question while the page is hidden. Neither words nor arguments leave the page: others may see the screen. */
export function notify(text: string, open: () => void): void {
  if (permission() !== "granted" || !document.hidden) {
    return;
  }
  try {
    const shown = new Notification(text, { tag: "ui-mcp-inbox" });
    shown.onclick = () => {
      window.focus();
      open();
      shown.close();
    };
  } catch {
    // Browsers on phones allow notifications only from a service worker.
  }
}

/** A line that offers notifications until the person has decided about them. */
export function offerNotifications(): HTMLElement {
  const offer = make("div.questions-notify.ask-row-of", {}, button("Notify me of new questions", () => void Notification.requestPermission().then(hide), "ask-quiet"));
  const hide = (): void => {
    // A phone gets push messages.
    offer.hidden = permission() !== "default" || isPhonePage();
  };
  hide();
  return offer;
}

function permission(): NotificationPermission {
  return "Notification" in window ? Notification.permission : "denied";
}
