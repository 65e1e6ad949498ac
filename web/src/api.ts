/** What scripts in viewdefs may rely on: `window.uiApp` and `window.uiStore`. */
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
  [own: string]: unknown;
}

declare global {
  interface Window {
    uiApp: UiApp;
    uiStore: Variables;
  }
}

/** Publish the page's objects to scripts. */
export function publish(app: App, connection: Connection): void {
  const api: UiApp = {
    getStore: () => app.variables,
    getBinding: () => app,
    getViewdefStore: () => app.viewdefs,
    getConnection: () => connection,
    getAppView: () => app.rootView(),
    updateValue,
  };
  window.uiStore = app.variables;
  window.uiApp = Object.assign((window.uiApp as UiApp | undefined) ?? {}, api);
}

/** Send the value of an element's `ui-value`; without a value, what the element shows. */
function updateValue(elementId: string, value?: Json): void {
  const element = document.getElementById(elementId);
  for (const boundElement of element === null ? [] : boundElementsOf(element)) {
    if (boundElement.positionOf("ui-value") !== undefined) {
      boundElement.send("ui-value", value ?? boundElement.value()?.read?.() ?? null);
      return;
    }
  }
}
