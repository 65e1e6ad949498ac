/** `ui-attr-X="path"`: set attribute X to the value's text; null and false remove it. */
import { type Binding, readOnly } from "./binding";

export const attr: Binding = {
  attribute: "ui-attr-",
  access: readOnly,
  bind({ element, argument }) {
    const text = argument === "src" || argument === "href" ? ownAddress : String;
    return {
      write(value) {
        if (value === null || value === false) {
          element.removeAttribute(argument);
        } else {
          element.setAttribute(argument, typeof value === "object" ? JSON.stringify(value) : text(value));
        }
      },
    };
  },
};

const LOOPBACK = /^http:\/\/(?:localhost|127\.0\.0\.1):(\d+)(?=\/(?!(?:state|wait)\b))/;

/**
 * Apps written for other engines expect the files they linked into `html/` on the MCP port. They are served here, and a
 * page may not frame another port of this machine, so such an address becomes one of the page's own origin.
 */
export function ownAddress(value: unknown): string {
  const port = document.querySelector('meta[name="ui-mcp-port"]')?.getAttribute("content");
  return String(value).replace(LOOPBACK, (whole, found) => (found === port ? location.origin : whole));
}
