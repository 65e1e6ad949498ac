/** Describes the element that the person has pointed at: where it is, how it looks, what it is bound to. */

import type { Pointed } from "../page/pointing";
import { ActionError } from "./actionability";
import type { Refs } from "./refs";
import { pathOf } from "./snapshot";

/** The properties that people talk about. */
const STYLES = [
  "color", "background-color", "font-family", "font-size", "font-weight", "line-height", "text-align", "display", "position",
  "width", "height", "margin", "padding", "border", "border-radius", "gap", "opacity",
] as const;

export function describePointed(refs: Refs): object {
  const pointed: Pointed | undefined = globalThis.uiPointed;
  if (!pointed?.element.isConnected) {
    throw new ActionError("GONE", "What was pointed at is no longer on the page");
  }
  const { element, viewdef, bindings } = pointed;
  const { x, y, width, height } = element.getBoundingClientRect();
  const computed = getComputedStyle(element);
  return {
    uid: refs.uidOf(element),
    path: pathOf(element),
    type: element.localName,
    bounds: { x, y, width, height },
    style: Object.fromEntries(STYLES.map((name) => [name, computed.getPropertyValue(name)])),
    bindings: bindings ?? [],
    viewdef: viewdef ?? null,
    window: { url: location.href, width: innerWidth, height: innerHeight, x: scrollX, y: scrollY, dark: isDark() },
  };
}

function isDark(): boolean {
  const { classList } = document.documentElement;
  return [...classList].some((name) => name.startsWith("theme-")) ? classList.contains("sl-theme-dark") : matchMedia("(prefers-color-scheme: dark)").matches;
}
