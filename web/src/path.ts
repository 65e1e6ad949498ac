/** Parses the value of a binding attribute: a path and its options. */

export interface PathText {
  readonly path: string;
  readonly options: ReadonlyMap<string, string>;
  /** The path calls a method without the value, or computes something: it can only be read, or called. */
  readonly calls: boolean;
  /** The method at the path's end takes the value: `(_)` is among its arguments. */
  readonly takesValue: boolean;
}

const PATH = /^(?:[^?"']|"[^"]*"|'[^']*')*/;
const TEXTS = /"[^"]*"|'[^']*'/g;

/** Parse `PATH?QUERY`; an option without a value is "true". A question mark inside quotes belongs to the path. */
export function parsePath(text: string): PathText {
  const at = PATH.exec(text)?.[0].length ?? 0;
  const path = text.slice(0, at).trim();
  const options = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text.slice(at + 1).trim())) {
    options.set(name, value === "" ? "true" : value);
  }
  const bare = path.replace(TEXTS, "");
  const takesValue = /[(,]\s*_\s*(,[^()]*)?\)$/.test(bare);
  return { path, options, calls: !takesValue && (bare.endsWith(")") || /[!=<>]/.test(bare)), takesValue };
}
