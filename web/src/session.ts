/** Which session this page belongs to. */

const ID = /^(\d+|[0-9a-f]{32})$/;

export interface SessionName {
  /** What the socket's address carries. */
  readonly address: string;
  /** The number people see. */
  readonly number: string;
}

/** Read the session from the page's address; the server adds its number to the page. */
export function sessionOf(path: string, page: Document): SessionName {
  const first = path.split("/")[1] ?? "";
  const address = ID.test(first) ? first : "1";
  const number = page.querySelector('meta[name="ui-session"]')?.getAttribute("content");
  return { address, number: number ?? (address.length === 32 ? "1" : address) };
}
