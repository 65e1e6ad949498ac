/** Lets the server find icons: one of Shoelace's, one of the project, or a replacement. */
import { registerIconLibrary } from "@shoelace-style/shoelace/dist/utilities/icon-library.js";

registerIconLibrary("default", { resolver: (name) => `/icons/${encodeURIComponent(name)}.svg` });
