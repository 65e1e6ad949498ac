/** Two texts as rows of what is the same, gone and new; pure. */
import { diffLines, diffWordsWithSpace } from "diff";

export interface Part {
  readonly text: string;
  readonly changed: boolean;
}

export interface Row {
  readonly kind: "same" | "gone" | "new";
  readonly old: number | null;
  readonly new: number | null;
  readonly parts: readonly Part[];
}

/** Unchanged rows that are folded. */
export interface Fold {
  readonly kind: "fold";
  readonly rows: readonly Row[];
}

const linesOf = (text: string): string[] => {
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
};

export function compare(before: string, after: string): Row[] {
  const rows: Row[] = [];
  let [old, now] = [1, 1];
  const changes = diffLines(before, after);
  changes.forEach((change, at) => {
    const lines = linesOf(change.value);
    if (change.removed) {
      const added = changes[at + 1]?.added ? linesOf(changes[at + 1]?.value ?? "") : [];
      lines.forEach((line, index) => rows.push({ kind: "gone", old: old++, new: null, parts: partsOf(line, added[index], "gone") }));
    } else if (change.added) {
      const removed = changes[at - 1]?.removed ? linesOf(changes[at - 1]?.value ?? "") : [];
      lines.forEach((line, index) => rows.push({ kind: "new", old: null, new: now++, parts: partsOf(removed[index], line, "new") }));
    } else {
      lines.forEach((line) => rows.push({ kind: "same", old: old++, new: now++, parts: [{ text: line, changed: false }] }));
    }
  });
  return rows;
}

/** The words that differ, if most of the line is the same. */
function partsOf(before: string | undefined, after: string | undefined, side: "gone" | "new"): Part[] {
  const own = (side === "gone" ? before : after) ?? "";
  if (before === undefined || after === undefined) {
    return [{ text: own, changed: false }];
  }
  const words = diffWordsWithSpace(before, after);
  const same = words.filter(({ added, removed }) => !added && !removed).reduce((sum, { value }) => sum + value.trim().length, 0);
  if (same * 2 < own.trim().length) {
    return [{ text: own, changed: false }];
  }
  return words.filter(({ added, removed }) => (side === "gone" ? !added : !removed)).map(({ value, added, removed }) => ({ text: value, changed: added || removed }));
}

/** Fold what is further than `context` rows from any change. */
export function folded(rows: readonly Row[], context: number): (Row | Fold)[] {
  const near = new Set<number>();
  rows.forEach((row, at) => {
    if (row.kind !== "same") {
      for (let other = at - context; other <= at + context; other++) {
        near.add(other);
      }
    }
  });
  const out: (Row | Fold)[] = [];
  let hidden: Row[] = [];
  const flush = (): void => {
    out.push(...(hidden.length > 3 ? [{ kind: "fold" as const, rows: hidden }] : hidden));
    hidden = [];
  };
  rows.forEach((row, at) => {
    if (near.has(at)) {
      flush();
      out.push(row);
    } else {
      hidden.push(row);
    }
  });
  flush();
  return out;
}

/** The rows of a unified diff, as `git diff` prints it; headings become rows of their own. */
export function parseUnified(text: string): Row[] {
  const rows: Row[] = [];
  let [old, now, inside] = [0, 0, false];
  for (const line of linesOf(text)) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    const one = (kind: Row["kind"], before: number | null, after: number | null, shown: string): void => void rows.push({ kind, old: before, new: after, parts: [{ text: shown, changed: false }] });
    if (hunk) {
      [old, now, inside] = [Number(hunk[1]), Number(hunk[2]), true];
      one("same", null, null, line);
    } else if (/^(diff |index |--- |\+\+\+ |new file|deleted file|similarity|rename )/.test(line)) {
      inside = false;
      one("same", null, null, line);
    } else if (inside && line.startsWith("-")) {
      one("gone", old++, null, line.slice(1));
    } else if (inside && line.startsWith("+")) {
      one("new", null, now++, line.slice(1));
    } else if (inside && !line.startsWith("\\")) {
      one("same", old++, now++, line.slice(1));
    }
  }
  return rows;
}

/** Rows side by side: what is gone beside what came in its place. */
export function paired(rows: readonly Row[]): { readonly left: Row | null; readonly right: Row | null }[] {
  const out: { left: Row | null; right: Row | null }[] = [];
  let at = 0;
  while (at < rows.length) {
    const from = at;
    while (rows[at]?.kind === "gone") {
      at++;
    }
    const middle = at;
    while (rows[at]?.kind === "new") {
      at++;
    }
    const [gone, added] = [rows.slice(from, middle), rows.slice(middle, at)];
    for (let index = 0; index < Math.max(gone.length, added.length); index++) {
      out.push({ left: gone[index] ?? null, right: added[index] ?? null });
    }
    const row = rows[at];
    if (row?.kind === "same") {
      out.push({ left: row, right: row });
      at++;
    }
  }
  return out;
}
