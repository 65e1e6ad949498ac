/** Loads the bundled components and our own elements when a viewdef first uses one. */
import { isElement } from "../elements/contracts";

declare const __VENDOR__: string;
declare const __ELEMENTS__: string;

const CORE = new Set(
  (
    "alert avatar badge button button-group card checkbox details dialog divider drawer dropdown icon icon-button input menu menu-item " +
    "menu-label option popup progress-bar radio radio-button radio-group select skeleton spinner switch tab tab-group tab-panel tag " +
    "textarea tooltip visually-hidden"
  )
    .split(" ")
    .map((name) => `sl-${name}`),
);

const loading = new Map<string, Promise<unknown>>();

export function loadComponents(tags: ReadonlySet<string>): void {
  for (const tag of tags) {
    if (customElements.get(tag) !== undefined) {
      continue;
    }
    if (tag.startsWith("sl-")) {
      load(`shoelace/${CORE.has(tag) ? "core" : "more"}.js?v=${__VENDOR__}`);
    } else if (isElement(tag)) {
      load(`elements/${tag.slice("ui-".length)}.js?v=${__ELEMENTS__}`);
    }
  }
}

/** Run the elements that the server expects to be used while the page waits for the app; their files are on the way already. */
export function loadExpected(links: Iterable<Element>): void {
  loadComponents(new Set([...links].map((link) => link.getAttribute("data-element") ?? "")));
}

function load(file: string): void {
  if (!loading.has(file)) {
    loading.set(file, import(/* @vite-ignore */ `/vendor/${file}`).catch((error: unknown) => console.error(`${file} did not load`, error)));
  }
}
