/** The public API for scripts in viewdefs: `window.uiApp` and `window.uiStore`. */
import type { Json } from "./protocol";
import type { Variables } from "./store/variables";
import type { Viewdefs } from "./store/viewdefs";
import type { Connection } from "./transport/connection";
import type { App } from "./view/app";
import { boundElementsOf } from "./view/bound_element";
import type { View } from "./view/view";

export interface UiApp {
  getStore(): Variables;
  getBinding(): App;
  getViewdefStore(): Viewdefs;
  getConnection(): Connection;
  getAppView(): View | null;
  updateValue(elementId: string, value?: Json): void;
  highlight(elementId: string): void;
  findViewdef(elementId: string): string | null;
  reportViewdef(elementId: string): void;
  [own: string]: unknown;
}

declare global {
  interface Window {
    uiApp: UiApp;
    uiStore: Variables;
  }
}

export function publish(app: App, connection: Connection): void {
  const api: UiApp = {
    getStore: () => app.variables,
    getBinding: () => app,
    getViewdefStore: () => app.viewdefs,
    getConnection: () => connection,
    getAppView: () => app.rootView(),
    updateValue,
    highlight,
    findViewdef,
    reportViewdef: (elementId) => updateValue("viewdef-bridge", findViewdef(elementId) ?? ""),
  };
  window.uiStore = app.variables;
  // Scripts may have added entries of their own before.
  window.uiApp = Object.assign((window.uiApp as UiApp | undefined) ?? {}, api);
}

/** Send a new value of an element's `ui-value`, by default the one it shows. */
function updateValue(elementId: string, value?: Json): void {
  const element = document.getElementById(elementId);
  for (const boundElement of element === null ? [] : boundElementsOf(element)) {
    if (boundElement.positionOf("ui-value") !== undefined) {
      boundElement.send("ui-value", value ?? boundElement.value()?.read?.() ?? null);
      return;
    }
  }
}

const RING_MS = 2_000;

/** Scroll to an element and draw a ring around it for a moment. */
function highlight(elementId: string): void {
  const element = document.getElementById(elementId);
  if (element === null) {
    return;
  }
  element.scrollIntoView({ block: "center" });
  element.classList.add("ui-highlight");
  setTimeout(() => element.classList.remove("ui-highlight"), RING_MS);
}

/** Return the key of the viewdef that shows an element: of the nearest element above it, or else before it. */
function findViewdef(elementId: string): string | null {
  const element = document.getElementById(elementId);
  const above = element?.closest("[ui-viewdef]");
  if (element === null || above) {
    return above?.getAttribute("ui-viewdef") ?? null;
  }
  const all = [...document.querySelectorAll("[ui-viewdef]")];
  const before = all.filter((one) => one.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING);
  return before.at(-1)?.getAttribute("ui-viewdef") ?? null;
}
