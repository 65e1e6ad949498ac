/** The look of the page: which theme is chosen, remembered in this browser, or the system's preference. */

const CLASS = /^theme-/;

interface ThemeInfo {
  /** Names of dark themes, as the server found them. */
  readonly dark: readonly string[];
  readonly names: readonly string[];
}

declare global {
  interface Window {
    uiThemes?: ThemeInfo;
  }
}

/** The chosen theme, or null while the system decides. */
export function chosenTheme(): string | null {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null;
  }
}

/** Choose a theme for this browser; "auto" leaves it to the system again. */
export function setTheme(name: string): void {
  try {
    if (name === "auto") {
      localStorage.removeItem("theme");
    } else {
      localStorage.setItem("theme", name);
    }
  } catch {
    // Opaque origins have no storage; the choice lasts as long as the page.
  }
  apply(name === "auto" ? systemTheme() : name);
}

/** Keep following the system's preference while nothing was chosen. */
export function followSystem(): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    if (chosenTheme() === null) {
      apply(systemTheme());
    }
  });
  new MutationObserver(enableSheets).observe(document.documentElement, { attributeFilter: ["class"] });
  if (![...document.documentElement.classList].some((name) => CLASS.test(name))) {
    apply(chosenTheme() ?? systemTheme());
  }
}

/** In the page of the person, take the theme that was chosen there; the page around us is the only one that is heard. */
export function followParent(): void {
  document.documentElement.classList.add("ui-framed");
  addEventListener("message", ({ source, data }: MessageEvent<{ readonly type?: unknown; readonly name?: unknown } | null>) => {
    if (source === window.parent && data?.type === "ui-theme" && typeof data.name === "string" && /^[\w-]+$/.test(data.name)) {
      apply(data.name);
    }
  });
}

/** Keep the style sheet of the shown theme switched on, whoever changes the class. */
function enableSheets(): void {
  const { classList } = document.documentElement;
  for (const link of document.querySelectorAll<HTMLLinkElement>("link[data-theme]")) {
    const media = classList.contains(`theme-${link.dataset["theme"]}`) ? "all" : "not all";
    if (link.media !== media) {
      link.media = media;
    }
  }
}

/** Show a theme without remembering it. */
export function apply(name: string): void {
  const { classList } = document.documentElement;
  classList.remove(...[...classList].filter((one) => CLASS.test(one)));
  classList.add(`theme-${name}`);
  classList.toggle("sl-theme-dark", isDark(name));
  document.dispatchEvent(new CustomEvent("ui-theme", { detail: { name } }));
}

function isDark(name: string): boolean {
  return window.uiThemes?.dark.includes(name) ?? name === "dark";
}

function systemTheme(): string {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
