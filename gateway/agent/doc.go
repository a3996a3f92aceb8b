// Package agent executes one run of the agent loop: a model step, the tool calls that it requested,
// the next step, until the model has finished. It does no I/O of its own: the model, the tools and
// the conversation are interfaces.
//
// A run can be resumed after a restart: when the conversation ends with calls that have no results,
// the run starts with these calls. The ID of a call is derived from its message, so that the
// journal of calls recognizes it.
package agent
