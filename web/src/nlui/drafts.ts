/** What is written and not sent yet, per conversation; it survives a reload of the page. */
import type { Attached } from "./attached";

export interface Draft {
  readonly text: string;
  readonly files: readonly Attached[];
  /** Set once it was sent and may have arrived: sent again with the same id, the message is stored once. */
  readonly clientId?: string;
}

const NONE: Draft = { text: "", files: [] };
const keyOf = (id: string): string => `nlui-draft:${id}`;

export const drafts = {
  of(id: string): Draft {
    try {
      return { ...NONE, ...(JSON.parse(sessionStorage.getItem(keyOf(id)) ?? "{}") as Partial<Draft>) };
    } catch {
      return NONE;
    }
  },
  keep(id: string, draft: Draft): void {
    try {
      if (draft.text || draft.files.length > 0) {
        sessionStorage.setItem(keyOf(id), JSON.stringify(draft));
      } else {
        sessionStorage.removeItem(keyOf(id));
      }
    } catch {
      // Without storage a draft lasts as long as the page.
    }
  },
  drop(id: string): void {
    drafts.keep(id, NONE);
  },
};
