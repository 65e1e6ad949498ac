/** Parses the value of a binding attribute: a path and its options. */

export interface PathText {
  readonly path: string;
  readonly options: ReadonlyMap<string, string>;
  /** The path ends in `()`. */
  readonly calls: boolean;
  /** The path ends in `(_)`: the method takes the value. */
  readonly takesValue: boolean;
}

/** Parse `PATH?QUERY`; an option without a value is "true". */
export function parsePath(text: string): PathText {
  const at = text.indexOf("?");
  const path = (at < 0 ? text : text.slice(0, at)).trim();
  const options = new Map<string, string>();
  if (at >= 0) {
    for (const [name, value] of new URLSearchParams(text.slice(at + 1).trim())) {
      options.set(name, value === "" ? "true" : value);
    }
  }
  return { path, options, calls: path.endsWith("()"), takesValue: path.endsWith("(_)") };
}
