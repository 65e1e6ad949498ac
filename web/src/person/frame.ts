/** The app inside the page of the person: another origin, in a sandbox that cannot navigate the page around it. */
import { make } from "../nlui/dom";

export interface AppFrame {
  readonly element: HTMLElement;
  /** Go to where the app is now, if that changed. */
  go(url: string | null): void;
}

export function appFrame(url: string): AppFrame {
  let shown = url;
  const element = make("iframe.person-app", {
    title: "App",
    // allow-same-origin keeps the frame in its own origin, which is not ours; there is no allow-top-navigation.
    // Pop-ups leave the sandbox: inside it browsers show an error for sites that isolate their windows (COOP).
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
