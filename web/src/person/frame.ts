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
    const theme = [...document.documentElement.classList].find((name) => name.startsWith("theme-"))?.slice("theme-".length);
    element.contentWindow?.postMessage({ type: "ui-theme", name: theme }, new URL(shown).origin);
  };
  element.addEventListener("load", sendTheme);
  document.addEventListener("ui-look", sendTheme);
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
