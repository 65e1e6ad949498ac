/** Makes `100vh` of an app mean the height that it has: below the shell's bar, that is less than the window's. */

const BLOCK = /\{[^{}]*\}/g;
const FIXED = /position\s*:\s*fixed/i;
const HEIGHT = /((?:^|[;{\s])(?:min-|max-)?(?:height|block-size)\s*:)([^;{}]*)/gi;
const UNIT = /(^|[^\w.-])(\d*\.?\d+)([dsl]?vh)\b/gi;

/** Rewrite the heights in the styles of a viewdef. What is fixed to the window keeps the window's height. */
export function fitHeights(content: ParentNode): void {
  for (const style of content.querySelectorAll("style")) {
    const css = style.textContent;
    if (css.includes("vh")) {
      style.textContent = css.replace(BLOCK, inApp);
    }
  }
  for (const element of content.querySelectorAll("[style*='vh']")) {
    element.setAttribute("style", inApp(element.getAttribute("style") ?? ""));
  }
}

function inApp(declarations: string): string {
  if (FIXED.test(declarations)) {
    return declarations;
  }
  return declarations.replace(HEIGHT, (_, name: string, value: string) => {
    // A shell without a bar of ours does not set the variable.
    return name + value.replace(UNIT, "$1calc($2 * var(--app-vh, 1$3))");
  });
}
