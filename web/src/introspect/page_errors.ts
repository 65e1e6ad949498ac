/** Collects what goes wrong in a page that a person has open: uncaught errors, and what is written to the console. */

const MOST = 20;
const LENGTH = 300;

/** Begin to collect; the result takes what was collected since its last call. */
export function collectErrors(): () => string[] {
  let found: string[] = [];
  const note = (text: string): void => {
    if (found.length < MOST) found.push(text.slice(0, LENGTH));
  };
  addEventListener("error", (event) => note(`error: ${event.message}`));
  addEventListener("unhandledrejection", (event) => note(`error: ${String(event.reason)}`));
  const write = console.error.bind(console);
  console.error = (...values: unknown[]): void => {
    note(`console: ${values.map(shown).join(" ")}`);
    write(...values);
  };
  return () => {
    const taken = found;
    found = [];
    return taken;
  };
}

function shown(value: unknown): string {
  if (value instanceof Error || typeof value !== "object" || value === null) return String(value);
  try {
    return JSON.stringify(value);
  } catch {
    return "[object]";
  }
}
