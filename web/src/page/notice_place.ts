/** Finds a place for the notices where they cover no control of the app. */

const CONTROLS =
  "a[href], button, input, select, textarea, summary, label, [tabindex]:not([tabindex='-1']), [contenteditable], [role='button'], [ui-action], [ui-event-click], " +
  "sl-button, sl-icon-button, sl-input, sl-textarea, sl-select, sl-checkbox, sl-switch, sl-radio, sl-range, sl-menu-item, sl-tab, sl-details";
/** In the order in which they are tried; the first is where people expect notices. */
export const PLACES = ["bottom-right", "bottom-left", "top-right", "top-left", "bottom", "top"] as const;
export type Place = (typeof PLACES)[number];
const STEP = 14;

/** Put the element at the first place where it covers no control, or where it covers least. */
export function placeFreely(notices: HTMLElement): void {
  if (notices.childElementCount === 0 || notices.matches(":hover, :focus-within")) {
    return; // never away from under the pointer
  }
  let best: { place: Place; covered: number } | null = null;
  const now = notices.dataset["place"] as Place | undefined;
  for (const place of now ? [now, ...PLACES.filter((one) => one !== now)] : PLACES) {
    notices.dataset["place"] = place;
    const covered = coveredControls(notices);
    if (best === null || covered < best.covered) {
      best = { place, covered };
    }
    if (covered === 0) {
      break;
    }
  }
  notices.dataset["place"] = best?.place ?? PLACES[0];
}

/** Count the points of the element below which there is a control. */
function coveredControls(notices: HTMLElement): number {
  let found = 0;
  for (const note of notices.children) {
    const box = note.getBoundingClientRect();
    for (let x = box.left; x <= box.right; x += STEP) {
      for (let y = box.top; y <= box.bottom; y += STEP) {
        found += isControlBelow(notices, x, y) ? 1 : 0;
      }
    }
  }
  return found;
}

function isControlBelow(notices: HTMLElement, x: number, y: number): boolean {
  const below = document.elementsFromPoint(x, y).find((one) => !notices.contains(one));
  return below?.closest(CONTROLS) != null;
}
