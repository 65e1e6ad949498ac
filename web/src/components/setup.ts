/** Points Shoelace at the icons that ship with us; a name we do not ship shows a plain dot instead of a failed request. */
import { registerIconLibrary } from "@shoelace-style/shoelace/dist/utilities/icon-library.js";
import names from "./icons.txt?raw";

const known = new Set(names.split(/\s+/));
const dot =
  "data:image/svg+xml," +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" fill="currentColor" viewBox="0 0 16 16"><circle cx="8" cy="8" r="3"/></svg>',
  );

registerIconLibrary("default", {
  resolver: (name) => (known.has(name) ? `/vendor/shoelace/icons/${name}.svg` : dot),
});
