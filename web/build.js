/** Runs the named builds of vite.config.ts in one process: those given as arguments, else all. */
import { build } from "vite";

const ALL = ["vendor", "elements", "session", "introspect", "host", "chat", "nlui", "person"];
const asked = process.argv.slice(2);
const names = asked.length > 0 ? asked : ALL;

/** @param {string} name */
const run = (name) => build({ mode: name, logLevel: "warn" });

// The session's page carries digests of what these write, so they go first.
const FIRST = ["vendor", "elements"];
await Promise.all(names.filter((name) => FIRST.includes(name)).map(run));
await Promise.all(names.filter((name) => !FIRST.includes(name)).map(run));
