/** Which rows are in view. Browsers limit the height of an element, so beyond that a pixel stands for several. */

const MOST_PIXELS = 8_000_000;

export interface Viewport {
  readonly scrollTop: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly length: number;
}

export function contentHeight({ length, rowHeight }: Pick<Viewport, "length" | "rowHeight">): number {
  return Math.min(length * rowHeight, MOST_PIXELS);
}

/** Where the viewport begins, in pixels of a list that were as high as all its rows. */
function offset(view: Viewport): number {
  const real = view.length * view.rowHeight - view.height;
  const drawn = contentHeight(view) - view.height;
  return drawn <= 0 || real <= drawn ? view.scrollTop : Math.min(real, (view.scrollTop / drawn) * real);
}

/** The first and the last row in view, with some more on both sides. */
export function rowsInView(view: Viewport, more: number): { first: number; last: number } {
  const top = offset(view) / view.rowHeight;
  const first = Math.max(0, Math.floor(top) - more);
  return { first, last: Math.min(view.length - 1, Math.ceil(top + view.height / view.rowHeight) + more) };
}

/** Where to draw a row, in pixels of the drawn list. */
export function rowTop(view: Viewport, index: number): number {
  return view.scrollTop + index * view.rowHeight - offset(view);
}

/** How far to scroll so that a row is in view; the present position if it is. */
export function scrollFor(view: Viewport, index: number): number {
  const at = offset(view);
  const above = index * view.rowHeight;
  const below = above + view.rowHeight - view.height;
  if (above >= at && below <= at) {
    return view.scrollTop;
  }
  const wanted = above < at ? above : below;
  const real = view.length * view.rowHeight - view.height;
  const drawn = contentHeight(view) - view.height;
  return real <= drawn || real <= 0 ? wanted : (wanted / real) * drawn;
}
