// Package dispatch is the only way anyone runs a tool: validate, preview, approve, journal, route, in that order. The agent, the RPC
// surface and everything that comes later call it; nothing else may call a node.
//
// The journal row is committed before a node is told to act, and closed after. A call that was running when the gateway
// died is found as such at the next start: its outcome is unknown, it is reported so, and it is never repeated by itself (seed 001,
// Side Effects and Idempotency). Calling Call again with the id of a call that has ended returns the stored result.
package dispatch
