/** The page's theme: chosen in this browser, else by the system's preference. */

const CLASS = /^theme-/;

interface ThemeInfo {
  /** The names of the dark ones. */
  readonly dark: readonly string[];
  readonly names: readonly string[];
  /** The addresses of style sheets that are no part of the page. */
  readonly files?: Readonly<Record<string, string>>;
}

declare global {
  interface Window {
    uiThemes?: ThemeInfo;
  }
}

/** The theme chosen in this browser, or null. */
export function chosenTheme(): string | null {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null;
  }
}

/** Choose a theme for this browser; "auto" follows the system's preference. */
export function setTheme(name: string): void {
  try {
    if (name === "auto") {
      localStorage.removeItem("theme");
    } else {
      localStorage.setItem("theme", name);
    }
  } catch {
    // Opaque origins have no storage. The choice then lasts until the page is closed.
  }
  apply(name === "auto" ? systemTheme() : name);
}

/** Apply the theme, and follow the system's preference while none is chosen. */
export function followSystem(): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    if (chosenTheme() === null) {
      apply(systemTheme());
    }
  });
  // Themes can also be changed by scripts that set the class.
  new MutationObserver(enableSheets).observe(document.documentElement, { attributeFilter: ["class"] });
  if (![...document.documentElement.classList].some((name) => CLASS.test(name))) {
    apply(chosenTheme() ?? systemTheme());
  }
}

/** Take the theme from the page that frames this one. */
export function followParent(): void {
  document.documentElement.classList.add("ui-framed");
  addEventListener("message", ({ source, data }: MessageEvent<{ readonly type?: unknown; readonly name?: unknown } | null>) => {
    if (source === window.parent && data?.type === "ui-theme" && typeof data.name === "string" && /^[\w-]+$/.test(data.name)) {
      apply(data.name);
    }
  });
}

/** Enable the style sheet of the current theme, which may have to be loaded first, and disable the others. */
function enableSheets(): void {
  const { classList } = document.documentElement;
  const sheets = [...document.querySelectorAll<HTMLLinkElement | HTMLStyleElement>("link[data-theme], style[data-theme]")];
  for (const sheet of sheets) {
    const media = classList.contains(`theme-${sheet.dataset["theme"]}`) ? "all" : "not all";
    if (sheet.media !== media) {
      sheet.media = media;
    }
  }
  for (const [name, href] of Object.entries(window.uiThemes?.files ?? {})) {
    if (classList.contains(`theme-${name}`) && !sheets.some((sheet) => sheet.dataset["theme"] === name)) {
      const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href });
      link.dataset["theme"] = name;
      document.head.append(link);
    }
  }
}

/** Apply a theme without storing it. */
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
