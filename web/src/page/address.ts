/** The address of the app that a page shows, in the location bar, the title, the icon and the history. */
import type { AddressHooks } from "../view/app";

/** The first icon waits: a page is to be usable before anything else is requested. */
const ICON_MS = 1_000;
const ENTER_MS = 180;
const SESSION = /^\/(\d+|[0-9a-f]{32})(?=\/|$)/;

/** What the server says that this page shows. */
interface Shown {
  readonly app?: string;
  /** Below the app's address, encoded. */
  readonly path: string;
  readonly title?: string;
}

/** The path of this page without the session's id. */
function currentAddress(): string {
  return location.pathname.replace(SESSION, "") || "/";
}

/** Keep the address up to date; `go` is called when the person goes back or forward. What follows from an action of the
 * person is a step in the history, as is another app. */
export function addresses(go: (address: string) => void): AddressHooks {
  const title = document.title;
  let acted = false;
  let started = false;
  let icon: string | undefined;
  let iconTimer: ReturnType<typeof setTimeout> | undefined;
  addEventListener("popstate", () => go(currentAddress()));
  return {
    here: currentAddress,
    acted: () => (acted = true),
    show(json) {
      const shown = JSON.parse(json) as Shown;
      const next = addressOf(shown);
      const now = currentAddress();
      document.title = shown.title ?? title;
      if (shown.app !== icon) {
        icon = shown.app; // not again: an app may set another one
        clearTimeout(iconTimer);
        iconTimer = setTimeout(setIcon, started ? 0 : ICON_MS, icon);
        if (started) {
          enter();
        }
      }
      if (next !== now) {
        const prefix = SESSION.exec(location.pathname)?.[0] ?? "";
        const step = started && (acted || appOf(next) !== appOf(now));
        history[step ? "pushState" : "replaceState"](null, "", prefix + next + location.search + (step ? "" : location.hash));
      }
      tellParent(next, document.title);
      started = true;
      acted = false;
    },
  };
}

function addressOf({ app, path }: Shown): string {
  return app === undefined ? "/" : `/app/${encodeURIComponent(app)}${path === "" ? "" : `/${path}`}`;
}

function appOf(address: string): string {
  return address.split("/")[2] ?? "";
}

/** Let another app come in softly, so that people see that it is another. */
function enter(): void {
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) {
    const from = { opacity: 0, transform: "translateY(6px)" };
    document.querySelector("#shell-main")?.animate([from, { opacity: 1, transform: "none" }], { duration: ENTER_MS, easing: "ease-out" });
  }
}

function setIcon(app: string | undefined): void {
  const link = document.querySelector<HTMLLinkElement>("#app-favicon");
  if (link !== null) {
    link.href = app === undefined ? "data:," : `/app/${encodeURIComponent(app)}/favicon.svg`;
  }
}

/** Tell the page that frames this one, so that it can show the address as its own. */
function tellParent(address: string, title: string): void {
  if (window.parent !== window) {
    window.parent.postMessage({ type: "ui-address", address, title }, "*");
  }
}
