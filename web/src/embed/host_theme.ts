/** Adapts theme and colours to the MCP host. */
import { apply } from "../theme/theme";
import type { HostContext } from "./host";

const COLOURS: Readonly<Record<string, string>> = {
  "--term-bg": "--color-background-primary",
  "--term-bg-elevated": "--color-background-secondary",
  "--term-bg-panel": "--color-background-primary",
  "--term-bg-hover": "--color-background-tertiary",
  "--term-text": "--color-text-primary",
  "--term-text-dim": "--color-text-secondary",
  "--term-text-muted": "--color-text-tertiary",
  "--term-border": "--color-border-primary",
  "--term-danger": "--color-text-danger",
  "--term-success": "--color-text-success",
  "--term-warning": "--color-text-warning",
  "--term-sans": "--font-sans",
  "--term-mono": "--font-mono",
};

/** Apply the parts of the host's style that the context contains. */
export function applyHostTheme({ theme, styles }: HostContext): void {
  const { style } = document.documentElement;
  if (theme === "light" || theme === "dark") {
    apply(theme);
    style.colorScheme = theme;
  }
  const variables = styles?.variables ?? {};
  for (const [name, value] of Object.entries(variables)) {
    style.setProperty(name, value);
  }
  for (const [ours, theirs] of Object.entries(COLOURS)) {
    if (variables[theirs] !== undefined) {
      style.setProperty(ours, `var(${theirs})`);
    }
  }
}
