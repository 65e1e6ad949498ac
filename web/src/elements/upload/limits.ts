/** What a `ui-upload` takes: kinds and sizes of files; pure. */

const UNITS: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

/** `5 MB` in bytes; null if it is no size. */
export function bytesOf(text: string): number | null {
  const found = /^\s*([\d.]+)\s*([kmg]?b)?\s*$/i.exec(text);
  return found ? Math.round(Number(found[1]) * (UNITS[(found[2] ?? "b").toLowerCase()] ?? 1)) : null;
}

export function shownBytes(bytes: number): string {
  const unit = (["GB", "MB", "KB"] as const).find((name) => bytes >= (UNITS[name.toLowerCase()] ?? 1));
  return unit === undefined ? `${bytes} B` : `${(bytes / (UNITS[unit.toLowerCase()] ?? 1)).toLocaleString(undefined, { maximumFractionDigits: 1 })} ${unit}`;
}

/** Whether a file is of one of the kinds: `.pdf`, `image/*` or `text/csv`, separated by commas. */
export function accepts(accept: string, name: string, type: string): boolean {
  const kinds = accept.toLowerCase().split(",").map((kind) => kind.trim()).filter(Boolean);
  return kinds.length === 0 || kinds.some((kind) => {
    if (kind.startsWith(".")) {
      return name.toLowerCase().endsWith(kind);
    }
    return kind.endsWith("/*") ? type.toLowerCase().startsWith(kind.slice(0, -1)) : type.toLowerCase() === kind;
  });
}

export interface Limits {
  readonly accept: string;
  readonly maxSize: number;
  readonly maxFiles: number;
}

/** Why a file cannot be taken, or "". */
export function refusal(file: { readonly name: string; readonly size: number; readonly type: string }, present: number, { accept, maxSize, maxFiles }: Limits): string {
  if (!accepts(accept, file.name, file.type)) {
    return `This kind of file is not taken; ${accept} is.`;
  }
  if (file.size > maxSize) {
    return `It has ${shownBytes(file.size)}; the most is ${shownBytes(maxSize)}.`;
  }
  return present >= maxFiles ? `At most ${maxFiles} ${maxFiles === 1 ? "file" : "files"}.` : "";
}
