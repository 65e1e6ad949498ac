/** The app in a sandboxed frame of another origin, which cannot navigate the page around it. */
import { make } from "../nlui/dom";

export interface AppFrame {
  readonly element: HTMLElement;
  /** Navigate to the app's URL if it has changed. */
  go(url: string | null): void;
}

export function appFrame(url: string): AppFrame {
  let shown = url;
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
