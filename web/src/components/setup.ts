/** Points Shoelace at the bundled icons. For other names the server finds a project's icon or a replacement. */
import { registerIconLibrary } from "@shoelace-style/shoelace/dist/utilities/icon-library.js";
import names from "./icons.txt?raw";

const known = new Set(names.split(/\s+/));

registerIconLibrary("default", {
  resolver: (name) => (known.has(name) ? `/vendor/shoelace/icons/${name}.svg` : other(name)),
});

function other(name: string): string {
  console.warn(`The icon "${name}" is not bundled: put ${name}.svg into html/icons/ of the project.`);
  return `/icons/${encodeURIComponent(name)}.svg`;
}
