/** Runs the named builds of vite.config.ts in one process: those given as arguments, else all. */
import { build } from "vite";

const ALL = ["vendor", "session", "introspect", "host", "chat", "nlui", "person"];
const asked = process.argv.slice(2);
const names = asked.length > 0 ? asked : ALL;

/** @param {string} name */
const run = (name) => build({ mode: name, logLevel: "warn" });

// The session's page carries a digest of what `vendor` writes, so that one goes first.
if (names.includes("vendor")) {
  await run("vendor");
}
await Promise.all(names.filter((name) => name !== "vendor").map(run));
