// Package tool is the one path of every tool call, whoever makes it: a model in a chat, a schedule,
// a message of a channel, a window, the command line. Nothing else may call a node's tools.
//
//	resolve → authorize → validate → preview → decide → approve → journal → execute → journal
//	Registry  scopes      schema     target    Policy   Approver  Journal   target    Journal
//
// [Pipeline.Run] takes a [Call] through these stages and returns its [Result]. [Pipeline.Authorize]
// stops before the execution, for work that has a queue of its own, such as transfers.
// [Pipeline.Continue] makes a [Step] after an allowed call, such as the next part of its file: it
// judges the call again and adds what passed to its record. A test of package gateway finds any
// other path to a node. Each stage is an interface in stages.go that another package implements. A
// surface translates between its wire format and Call and Result, and does nothing else.
//
// What a caller may use is decided in authorize.go alone: the stage for calls and steps, the lists
// of [Registry] for what a surface shows, and [CheckAccess] for what goes on without a new call,
// such as a waiting job.
//
// A target is where a tool runs: the gateway, a node or an MCP server. [Registry] finds it. What
// differs between the three is in owntool.go, nodetool.go and servertool.go.
//
// # After a crash
//
// A call is in the journal before it runs. At the next start, [Pipeline.Recover] finds the calls
// that were running: their outcome is unknown, they are reported as such, and they are never
// repeated automatically. A node that continues its calls while disconnected (protocol.ExtKeep)
// gets 45 seconds to reconnect; its result is then the call's result. A later result still corrects
// the journal ([Pipeline.AcceptLateResult]).
//
// # Differences from GSV
//
// GSV treats a tool without a declared effect as read-only. Here its effect is unknown: it needs an
// approval and is never repeated automatically. GSV uses one idempotency key for all calls of a
// task; here each call has its own, so that two payments of one run are two payments. Calls end as
// done, failed, denied, cancelled or unknown, where GSV has success and error.
package tool
