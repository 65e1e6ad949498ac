/** The app in a sandboxed frame of another origin, which cannot navigate the page around it. */
import { make } from "../nlui/dom";

export interface AppFrame {
  readonly element: HTMLIFrameElement;
  /** The origin of the app. */
  origin(): string;
  /** Navigate to the app's URL if it has changed. */
  go(url: string | null): void;
}

/** The addresses that an app's page has; it may tell us anything. */
const ADDRESS = /^\/(app\/[\w%.~/=,:@!$'()*+;-]{1,2000})?$/;

/** The app's URL at the address that this page's own URL names, so that a link to this page leads to the same app. */
function atAddress(url: string): string {
  const address = new URLSearchParams(location.hash.slice(1)).get("app") ?? "/";
  const at = new URL(url);
  at.pathname = at.pathname.replace(/\/$/, "") + (ADDRESS.test(address) ? address : "/");
  return at.href;
}

/** Show the app's address in this page's URL and its title in this page's. */
function followAddress(frame: HTMLIFrameElement, origin: () => string): void {
  addEventListener("message", ({ source, origin: from, data }: MessageEvent<unknown>) => {
    const said = data as { type?: unknown; address?: unknown; title?: unknown } | null;
    const trusted = source === frame.contentWindow && from === origin() && said?.type === "ui-address";
    if (trusted && typeof said.address === "string" && ADDRESS.test(said.address)) {
      history.replaceState(null, "", said.address === "/" ? location.pathname : `#app=${said.address}`);
      document.title = typeof said.title === "string" ? said.title.slice(0, 200) : document.title;
    }
  });
}

export function appFrame(given: string): AppFrame {
  const url = atAddress(given);
  let shown = given;
  const element = make("iframe.person-app", {
    title: "App",
    // allow-same-origin leaves the app its own origin, which is not ours. allow-top-navigation is left out on purpose.
    // Pop-ups escape the sandbox, because browsers refuse to show sites with a cross-origin opener policy inside it.
    sandbox:
      "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-modals allow-downloads",
    allow: "clipboard-write; fullscreen",
    referrerpolicy: "no-referrer",
    src: url,
  });
  const sendTheme = (): void => {
    const theme = document.documentElement.dataset["appTheme"] ?? [...document.documentElement.classList].find((name) => name.startsWith("theme-"))?.slice("theme-".length);
    element.contentWindow?.postMessage({ type: "ui-theme", name: theme }, new URL(shown).origin);
  };
  followAddress(element, () => new URL(shown).origin);
  let loaded = false; // until then the frame has our own origin, to which nothing is to be sent
  element.addEventListener("load", () => {
    loaded = true;
    sendTheme();
  });
  document.addEventListener("ui-look", () => {
    if (loaded) {
      sendTheme();
    }
  });
  return {
    element,
    origin: () => new URL(shown).origin,
    go(next) {
      if (next !== null && next !== shown) {
        shown = next;
        element.src = next;
      }
    },
  };
}

/** Use a theme on this page and in the app; one of the project's own is only for the app. */
export function useTheme(name: string, isDark: boolean): void {
  const own = OWN_THEMES.includes(name);
  const { dataset } = document.documentElement;
  if (own) {
    delete dataset["appTheme"];
  } else {
    dataset["appTheme"] = name; // a style sheet of the project is not for this page
  }
  window.uiTheme?.(own ? name : isDark ? "dark" : "light");
}

const OWN_THEMES: readonly string[] = ["auto", "dark", "dusk", "light", "meadow"];
