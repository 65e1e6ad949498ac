/** Marks the page while the app in the shell lays itself out: its root has a class, and something in it a style. */

const OWN_LAYOUT = '.shell-main > .shell-app:not([class^="ui-view-"][class$=" shell-app"]) style';

/**
 * Watch an element for the styles of apps. A selector with `:has()` would say the same, but then every text that
 * changes anywhere in the app makes the browser compute the style of all its elements anew.
 */
export function markOwnLayout(root: Element): void {
  const mark = (): void => void document.documentElement.toggleAttribute("data-own-layout", root.querySelector(OWN_LAYOUT) !== null);
  new MutationObserver(mark).observe(root, { childList: true, subtree: true });
}
