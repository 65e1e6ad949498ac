/** Loads the bundled components when a viewdef first uses one. */

declare const __VENDOR__: string;

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
    if (tag.startsWith("sl-") && customElements.get(tag) === undefined) {
      load(CORE.has(tag) ? "core" : "more");
    }
  }
}

function load(file: "core" | "more"): void {
  if (!loading.has(file)) {
    const url = `/vendor/shoelace/${file}.js?v=${__VENDOR__}`;
    loading.set(file, import(/* @vite-ignore */ url).catch((error: unknown) => console.error(`${file} components did not load`, error)));
  }
}
