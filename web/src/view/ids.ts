/** Vended ids, for elements without one: ui-1, ui-2, … */

let last = 0;

export function vendId(): string {
  last += 1;
  return `ui-${last}`;
}

/** Return whether an id is a vended one. */
export function isVended(id: string): boolean {
  return /^ui-\d+$/.test(id);
}
