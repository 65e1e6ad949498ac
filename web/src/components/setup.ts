/** Points Shoelace at the icons that ship with us; the server knows what to show for any other name. */
import { registerIconLibrary } from "@shoelace-style/shoelace/dist/utilities/icon-library.js";
import names from "./icons.txt?raw";

const known = new Set(names.split(/\s+/));

registerIconLibrary("default", {
  resolver: (name) => (known.has(name) ? `/vendor/shoelace/icons/${name}.svg` : other(name)),
});

function other(name: string): string {
  console.warn(`The icon "${name}" is not on board: put ${name}.svg into html/icons/ of the project.`);
  return `/icons/${encodeURIComponent(name)}.svg`;
}
