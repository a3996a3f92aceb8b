// Package dispatch is the only way anyone runs a tool: validate, preview, approve, journal, route, in that order. The agent, the RPC
// surface and everything that comes later call it; nothing else may call a node.
//
// The journal row is committed before a node is told to act, and closed after. A call that was running when the gateway
// died is found as such at the next start: its outcome is unknown, it is reported so, and it is never repeated by itself (seed 001,
// Side Effects and Idempotency). Calling Call again with the id of a call that has ended returns the stored result.
//
// A machine that goes on with its calls while it cannot be reached (protocol.ExtKeep) is waited for, for half a minute, after a lost connection and
// after a restart of the gateway: what it has is then the call's result. One that reports later still has the journal corrected, and the chat told
// ([Dispatcher.Late]).
//
// A call of gsv__Transfer is judged as itself, and as the reading of its sources and the writing of its destination on their machines: a rule about a
// file keeps it from a transfer too.
//
// Seed 001 takes a tool of which nothing was declared for a pure read. Here it is unknown: asked about, and never repeated by itself. The seed's one
// key for all calls of a task is here one for each call: two payments of one run are two. Calls are marked done, failed, denied, cancelled or unknown,
// where the seed has success and error.
package dispatch
