/** Gives the person a file that an app offers with `session:download`. */
import { make } from "./markup";

interface Offer {
  readonly name: string;
  readonly text?: string;
  /** Base64. */
  readonly data?: string;
}

const KEPT_MS = 60_000;

export function offerDownload(json: string): void {
  const { name, text, data } = JSON.parse(json) as Offer;
  const content = data === undefined ? (text ?? "") : Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
  const link = make("a", "");
  link.href = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}
