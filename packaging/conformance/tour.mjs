// A tour of Fairlead with the TypeScript client of MCP.
//
// tour.mjs ERA TOKEN URL [PROGRAM ARGUMENT...]: over HTTP, or with PROGRAM over its standard input and output.
// ERA is legacy or 2026-07-28. Any surprise is an exception.
import assert from "node:assert";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// The client is installed in the working directory, and this file is not.
const load = (name) => import(pathToFileURL(createRequire(process.cwd() + "/").resolve(name)));
const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");

const [era, token, url, ...program] = process.argv.slice(2);
const asked = [];
let updated;
const update = new Promise((resolve) => (updated = resolve));

const client = new Client(
  { name: "tour", version: "1" },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: era } } },
);
client.setRequestHandler("elicitation/create", async (r) => {
  asked.push(r.params.message); // go on waiting: a person at Fairlead answers meanwhile
  return { action: "accept", content: {} };
});
client.setNotificationHandler("notifications/resources/updated", (n) => updated(n.params.uri));
await client.connect(
  program.length
    ? new StdioClientTransport({ command: program[0], args: program.slice(1), env: { ...process.env, FAIRLEAD_TOKEN: token, FAIRLEAD_URL: url } })
    : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: "Bearer " + token } } }),
);

const { tools } = await client.listTools();
assert.ok(tools.find((t) => t.name === "fs_stat")?.annotations.readOnlyHint);
const who = await client.callTool({ name: "whoami", arguments: {} });
assert.match(who.structuredContent.user_id, /^[0-9a-f-]{36}$/);
assert.deepEqual(JSON.parse(who.content[0].text), who.structuredContent);
const wrong = await client.callTool({ name: "fs_stat", arguments: { path: 7 } });
assert.ok(wrong.isError && wrong.content[0].text.includes("invalid_args"));

const { resources } = await client.listResources();
const machine = resources.find((r) => r.uri.startsWith("fairlead://machines/"));
assert.equal(JSON.parse((await client.readResource({ uri: machine.uri })).contents[0].text).id, machine.name);
assert.equal((await client.listResourceTemplates()).resourceTemplates[0].name, "file");
const completed = await client.complete({
  ref: { type: "ref/resource", uri: "fairlead://{machine}/file{+path}" },
  argument: { name: "machine", value: machine.name.slice(0, 1) },
});
assert.ok(completed.completion.values.includes(machine.name));
const { prompts } = await client.listPrompts();
assert.ok((await client.getPrompt({ name: prompts[0].name })).messages[0].content.text);

// The command waits for the owner, who is told so through the client and answers in Fairlead.
const journal = "fairlead://journal";
const listening = era === "legacy" ? await client.subscribeResource({ uri: journal }) : await client.listen({ resourceSubscriptions: [journal] });
const done = await client.callTool({ name: "command", arguments: { session: { node_name: machine.name, command: "echo from the tour" } } });
assert.ok(!done.isError && done.content[0].text.includes("from the tour"), JSON.stringify(done));
assert.equal(asked.length, 1);
assert.match(asked[0], /Fairlead/);
assert.equal(await update, journal);
await listening.close?.();
await client.close();
