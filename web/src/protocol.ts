/** The messages between page and server, specified in contracts/wire.md. */

import type { Answer } from "./history/requests";
import type {
  MESSAGE_CREATE,
  MESSAGE_DESTROY,
  MESSAGE_ERROR,
  MESSAGE_HISTORY,
  MESSAGE_SAVED,
  MESSAGE_UNWATCH,
  MESSAGE_UPDATE,
  MESSAGE_VIEW,
  MESSAGE_WATCH,
} from "./wire.gen";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Update {
  varId: number;
  value?: Json;
  properties?: Record<string, string>;
}

export interface Failure {
  varId?: number;
  view?: number;
  pos?: number;
  code: string;
  description: string;
}

export interface ViewPlacement {
  view: number;
  parent: number;
  slot: number;
  index?: number;
  key: string;
  values?: Json[];
}

export type ServerMessage =
  | { type: typeof MESSAGE_UPDATE; data: Update }
  | { type: typeof MESSAGE_DESTROY; data: { varId: number } }
  | { type: typeof MESSAGE_ERROR; data: Failure }
  | { type: typeof MESSAGE_SAVED; data: { frames: number } }
  | { type: typeof MESSAGE_HISTORY; data: Answer }
  | { type: typeof MESSAGE_VIEW; data: ViewPlacement };

export type PageMessage =
  | { type: typeof MESSAGE_CREATE; data: Creation }
  | { type: typeof MESSAGE_UPDATE; data: Update }
  | { type: typeof MESSAGE_DESTROY | typeof MESSAGE_UNWATCH; data: { varId: number } }
  | { type: typeof MESSAGE_WATCH; data: { varId: number; expand?: boolean; address?: string } };

export interface Creation {
  id: number;
  parentId?: number;
  value?: Json;
  properties?: Record<string, string>;
  nowatch?: boolean;
}

/** `[view, position, value]` sets a value; without the value it calls an action. */
export type Short = [view: number, position: number, value?: Json];

/** `[view, key, values]`; key 0 repeats the key of the row before. */
export type InlineView = [view: number, key: string | 0, values?: Json[]];

/** A list of which only the rows from `from` on are on the page. */
export interface Window {
  length: number;
  from: number;
  rows: Json[];
}

/** A run of rows taken out of a list or put in; those that were put in follow. */
export interface Splice {
  splice: [at: number, removed: number, added: number];
}

export function isInlineView(value: Json | undefined): value is InlineView & Json[] {
  return Array.isArray(value) && value.length >= 2 && typeof value[0] === "number";
}

export function isWindow(value: Json | undefined): value is Window & { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && "rows" in value;
}

export function isSplice(value: Json | undefined): value is Splice & { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && "splice" in value;
}

/** Split a frame into its parts: one message, an array of them, or one short update. */
export function parts(frame: string): (ServerMessage | Short)[] {
  const parsed = JSON.parse(frame) as ServerMessage | Short | (ServerMessage | Short)[];
  if (!Array.isArray(parsed)) {
    return [parsed];
  }
  return typeof parsed[0] === "number" ? [parsed as Short] : (parsed as (ServerMessage | Short)[]);
}
