// bad.mjs FAULT FOLDER: an MCP server with the TypeScript SDK, from FOLDER/node_modules, that does wrong
// what FAULT says. gateway/servers uses it in TestBadServersOfOtherSDKs.
import { createRequire } from "node:module";

const [fault, folder] = process.argv.slice(2);
const require = createRequire(folder + "/");
const { Server } = require("@modelcontextprotocol/server");
const { StdioServerTransport } = require("@modelcontextprotocol/server/stdio");

if (fault === "exit") {
  console.error("Error: API_KEY is not set");
  process.exit(1);
}

const tool = (name, inputSchema = { type: "object" }) => ({ name, description: "fine", inputSchema });
const server = new Server({ name: "bad", version: "1" }, { capabilities: { tools: { listChanged: true } } });

server.setRequestHandler("tools/list", async () => {
  const tools = [tool("good"), tool("never"), tool("leave")];
  if (fault === "duplicates") tools.push(tool("good"), tool("good"));
  if (fault === "invalid") tools.push(tool("broken", { type: "object", properties: 7 }));
  if (fault === "flood") for (let i = 0; i < 500; i++) await server.sendToolListChanged();
  return { tools, ...(fault === "cursor" && { nextCursor: "again" }) };
});

server.setRequestHandler("tools/call", async (request) => {
  if (request.params.name === "never") await new Promise(() => {});
  if (request.params.name === "leave") {
    console.error("the disk of the server is full");
    process.exit(4);
  }
  return { content: [{ type: "text", text: "hello" }] };
});

if (fault === "noise") console.log('{"level": "info", "message": "started"}\n{ not even JSON');
await server.connect(new StdioServerTransport());
