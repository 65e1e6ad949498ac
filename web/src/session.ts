/** The session that this page belongs to. */

const ID = /^(\d+|[0-9a-f]{32})$/;

export interface SessionName {
  /** Its id in the WebSocket's URL. */
  readonly address: string;
  /** The number shown to people. */
  readonly number: string;
}

/** Read the id from the page's path, and the number from a meta element that the server adds. */
export function sessionOf(path: string, page: Document): SessionName {
  const first = path.split("/")[1] ?? "";
  const address = ID.test(first) ? first : "1";
  const number = page.querySelector('meta[name="ui-session"]')?.getAttribute("content");
  return { address, number: number ?? (address.length === 32 ? "1" : address) };
}

/** The id of this tab, which it keeps while it is open: the history knows by it whose steps are whose. */
export function pageId(): string {
  try {
    return (sessionStorage["uiPage"] ??= Math.random().toString(36).slice(2, 12)) as string;
  } catch {
    return ""; // no storage
  }
}
