/** Icons from the page itself, since the content security policy of hosts forbids all requests, even data URLs. */
import { registerIconLibrary } from "@shoelace-style/shoelace/dist/utilities/icon-library.js";
import icons from "virtual:icons";

const SCHEME = "ui-icon:";
const DOT = '<circle cx="8" cy="8" r="3"/>';

/** Answer the components' requests for icons without the network. */
export function inlineIcons(): void {
  registerIconLibrary("default", { resolver: (name) => SCHEME + name });
  const network = window.fetch.bind(window);
  window.fetch = (input, init) => {
    const svg = typeof input === "string" ? drawing(input) : null;
    return svg === null ? network(input, init) : Promise.resolve(new Response(svg));
  };
}

function drawing(address: string): string | null {
  if (address.startsWith(SCHEME)) {
    const name = address.slice(SCHEME.length);
    const inner = icons[name] ?? icons[name.endsWith("-fill") ? name.slice(0, -5) : `${name}-fill`] ?? DOT;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" fill="currentColor" viewBox="0 0 16 16">${inner}</svg>`;
  }
  const comma = address.indexOf(",");
  return address.startsWith("data:image/svg+xml") && comma > 0 ? decodeURIComponent(address.slice(comma + 1)) : null;
}
