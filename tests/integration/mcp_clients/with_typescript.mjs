/**
 * Drive a server with a generation of the TypeScript SDK:
 * `with_typescript.mjs 1|2 stdio COMMAND…` or `with_typescript.mjs 1|2 sse|http URL`.
 */

const [generation, kind, where, ...rest] = process.argv.slice(2);
const sdk = generation === "1" ? await first() : await second();
const transports = {
  stdio: () => new sdk.StdioClientTransport({ command: where, args: rest }),
  sse: () => new sdk.SSEClientTransport(new URL(where)),
  http: () => new sdk.StreamableHTTPClientTransport(new URL(where)),
};

const client = new sdk.Client({ name: "typescript", version: "1" }, { versionNegotiation: { mode: "auto" } });
await client.connect(transports[kind]());
const { tools } = await client.listTools();
const status = await client.callTool({ name: "ui_status", arguments: {} });
const { resources } = await client.listResources();
const { contents } = await client.readResource({ uri: "ui://reference" });
console.log(
  JSON.stringify({
    version: sdk.version(client),
    tools: tools.map((tool) => tool.name),
    state: JSON.parse(status.content[0].text).state,
    resources: resources.map((resource) => resource.uri),
    guide: contents[0].text.slice(0, 2),
  }),
);
await client.close();

/** Return the SDK that speaks the handshake era alone; it does not tell the version. */
async function first() {
  const path = "@modelcontextprotocol/sdk/client";
  const parts = await Promise.all(["index", "stdio", "sse", "streamableHttp"].map((name) => import(`${path}/${name}.js`)));
  return Object.assign({ version: () => "unknown" }, ...parts);
}

/** Return the SDK that speaks both eras and prefers the modern one. */
async function second() {
  const parts = [await import("@modelcontextprotocol/client"), await import("@modelcontextprotocol/client/stdio")];
  return Object.assign({ version: (client) => client.getNegotiatedProtocolVersion() }, ...parts);
}
