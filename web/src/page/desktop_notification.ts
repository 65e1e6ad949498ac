/** Desktop notifications, which browsers allow after a click and one question. */

const ASKED = "ui-notifications-asked";

/** Ask for permission with the first click in this browser, so that a later duplicate tab can be announced. */
export function askWithFirstClick(): void {
  if (permission() !== "default" || localStorage.getItem(ASKED) !== null) {
    return;
  }
  const ask = (): void => {
    localStorage.setItem(ASKED, "yes");
    void Notification.requestPermission();
  };
  document.addEventListener("click", ask, { once: true });
}

/** Show a notification; without permission yet, ask for it with the next click. */
export function announce(text: string): void {
  try {
    if (permission() === "granted") {
      new Notification(text);
    } else if (permission() === "default") {
      const ask = (): void => {
        void Notification.requestPermission().then((answer) => answer === "granted" && new Notification(text));
      };
      document.addEventListener("click", ask, { once: true });
    }
  } catch {
    // Some browsers allow notifications only from a service worker. The page itself says the same.
  }
}

function permission(): NotificationPermission {
  return "Notification" in window ? Notification.permission : "denied";
}
