/** Gives elements stable uids and resolves references: by uid, else by canonical path. */

import { composedChildren, rootOf } from "./dom";

export interface NodeRef {
  uid?: string | null;
  path?: string | null;
}

export interface Refs {
  uidOf(element: Element): string;
  resolve(ref: NodeRef): Element | null;
}

const SWEEP = 20_000;

/** Uids are `prefix` and a counter. Every document gets its own prefix, so a uid is never reused. */
export function createRefs(prefix: string): Refs {
  const uids = new WeakMap<Element, string>();
  const elements = new Map<string, WeakRef<Element>>();
  let last = 0;
  let sweepAt = SWEEP;

  function sweep(): void {
    for (const [uid, held] of elements) {
      if (!held.deref()) elements.delete(uid);
    }
    sweepAt = Math.max(SWEEP, elements.size * 2);
  }

  function uidOf(element: Element): string {
    const known = uids.get(element);
    if (known !== undefined) return known;
    last += 1;
    const uid = `${prefix}${last}`;
    uids.set(element, uid);
    if (elements.size >= sweepAt) sweep();
    elements.set(uid, new WeakRef(element));
    return uid;
  }

  function resolve(ref: NodeRef): Element | null {
    const [uid, row] = (ref.uid ?? "").split(":r");
    const element = uid ? elements.get(uid)?.deref() : undefined;
    if (element?.isConnected) return row === undefined ? element : rowOf(element, Number(row));
    return ref.path ? byPath(ref.path) : null;
  }

  return { uidOf, resolve };
}

/** The rows of a list, table or tree with ARIA roles. */
export function rowsOf(control: Element): { index: number; row: Element }[] {
  return [...control.querySelectorAll("[role=row],[role=option],[role=treeitem]")]
    .filter((row) => !row.querySelector("[role=columnheader]"))
    .map((row, position) => ({ index: Number(row.getAttribute("aria-rowindex") ?? row.getAttribute("aria-posinset") ?? position + 1) - 1, row }));
}

function rowOf(control: Element, index: number): Element | null {
  return rowsOf(control).find((entry) => entry.index === index)?.row ?? null;
}

function byPath(path: string): Element | null {
  const found = /^\/stages\[\d+\]\/scene\/root(.*)$/.exec(path);
  let element: Element | null = found ? rootOf(document) : null;
  for (const segment of (found?.[1] ?? "").split("/").filter(Boolean)) {
    const part = /^(.+)\[(\d+)\]$/.exec(segment);
    if (!element || !part) return null;
    const same: Element[] = composedChildren(element).filter((child) => child.localName === part[1]);
    element = same[Number(part[2])] ?? null;
  }
  return element;
}
