/** What a `ui-text` takes; pure. */

export interface Rules {
  readonly type: string;
  readonly least: number;
  /** 0 is any length. */
  readonly most: number;
  readonly pattern: string;
  /** What the pattern means, in words. */
  readonly expected: string;
}

/** Why a text cannot be taken, or "". An empty one can: whether it is needed is another question. */
export function problemOf(text: string, { type, least, most, pattern, expected }: Rules): string {
  if (text === "") {
    return "";
  }
  if (type === "email" && !/^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)*$/.test(text.trim())) {
    return "Write an address like name@example.org.";
  }
  if (type === "url" && !isUrl(text.trim())) {
    return "Write an address like https://example.org.";
  }
  if (text.length < least) {
    return `At least ${least} characters; there are ${text.length}.`;
  }
  if (most > 0 && text.length > most) {
    return `At most ${most} characters; there are ${text.length}.`;
  }
  return matches(pattern, text) ? "" : expected || `It must match ${pattern}.`;
}

function isUrl(text: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\/[^\s/]/i.test(text) && URL.canParse(text);
}

/** A pattern that is no regular expression matches everything, as in fields of browsers. */
function matches(pattern: string, text: string): boolean {
  try {
    return pattern === "" || new RegExp(`^(?:${pattern})$`, "v").test(text);
  } catch {
    return true;
  }
}
