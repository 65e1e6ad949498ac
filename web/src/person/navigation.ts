/** The main views in the header and in the address: the app, all apps, settings. */
import { button, make } from "../nlui/dom";

const ADDRESSES: Readonly<Record<string, string>> = { "/apps": "apps", "/settings": "settings", "/console": "console" };

/** The view that the address names, if it names one of the console's. */
export function viewOfAddress(): string | undefined {
  return ADDRESSES[location.pathname];
}

/** Keep a main view in the address, so that reloading and going back lead to it. */
export function remember(id: string): void {
  const path = Object.keys(ADDRESSES).find((one) => ADDRESSES[one] === id) ?? "/";
  const own = viewOfAddress() !== undefined || path !== "/";
  if (own && id !== "console" && location.pathname !== path) {
    history.pushState(null, "", path);
  }
}

export function navigation(choose: (id: string) => void): { readonly element: HTMLElement; show(id: string): void } {
  const names = { app: "App", apps: "All apps", settings: "Settings" } as const;
  const made = Object.entries(names).map(([id, name]) => {
    const one = button(name, () => choose(id), `person-to-${id}`);
    return { id, one };
  });
  return {
    element: make("nav.person-nav", { "aria-label": "Main views" }, ...made.map(({ one }) => one)),
    show(id) {
      for (const { id: mine, one } of made) {
        if (mine === id) {
          one.setAttribute("aria-current", "page");
        } else {
          one.removeAttribute("aria-current");
        }
      }
    },
  };
}
