// Package tool runs tool calls: it validates, previews, decides, asks for approval, journals
// and executes each call, in that order. It is the only way to run a tool; the agent and the RPC
// surface use it, and nothing else may call a node.
//
// The journal row is committed before the call is sent to a node, and closed after the result. At
// the next start after a crash, a call that was running is found by its row: its outcome is
// unknown, it is reported as such, and it is never repeated automatically. A second Call with the
// ID of a finished call returns the stored result.
//
// A node that continues its calls while disconnected (protocol.ExtKeep) gets 45 seconds to
// reconnect after a lost connection or a restart of the gateway; its result is then the call's
// result. A later result still corrects the journal, and the chat is notified ([Pipeline.Late]).
//
// A gsv__Transfer call is judged as itself, as a read of its sources and as a write of its
// destination on their machines. So a rule about a file applies to transfers too.
//
// The original system treats a tool without a declared effect as read-only. Here its effect is
// unknown: it needs an approval and is never repeated automatically. The original system uses one
// idempotency key for all calls of a task; here each call has its own, so that two payments of one
// run are two payments. Calls end as done, failed, denied, cancelled or unknown, where the original
// system has success and error.
package tool
