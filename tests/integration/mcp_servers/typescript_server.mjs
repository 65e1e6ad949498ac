// A server of the TypeScript SDK, stateless and for both eras: `node typescript_server.mjs PORT`.
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "foreign", version: "1" }, { instructions: "Be kind." });
  server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, async ({ text }) => ({
    content: [{ type: "text", text, _meta: { "x.test/any": { kept: true } } }],
  }));
  return server;
});
createServer(toNodeHandler(handler)).listen(Number(process.argv[2]), "127.0.0.1");
