/** The elements that scripts listen to, as a debugger has counted them. */

import { holdsControl } from "./roles";

/** Return those among the numbered elements that contain neither another one nor a control; none if the page has changed since. */
export function innermostListening(count: number, numbers: number[]): Set<Element> {
  const all = document.querySelectorAll("*");
  if (all.length !== count) return new Set();
  const found = numbers.flatMap((number) => all[number] ?? []);
  const around = new Set<Element>([document.documentElement, document.body]);
  for (const element of found) {
    for (let at = element.parentElement; at && !around.has(at); at = at.parentElement) around.add(at);
  }
  return new Set(found.filter((element) => !around.has(element) && !holdsControl(element)));
}
