/** Ids for elements that have none: ui-1, ui-2, … */

let last = 0;

export function vendId(): string {
  last += 1;
  return `ui-${last}`;
}

/** Say whether an id was given by the page rather than by an author. */
export function isVended(id: string): boolean {
  return /^ui-\d+$/.test(id);
}
