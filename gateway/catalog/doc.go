// Package catalog offers tools to programs that call over MCP, REST or the command line: what they
// are called, what they take and return, which scopes they need, and how a call becomes a call of
// the tool pipeline. Each interface is a thin adapter over it. docs/api.md describes the tools.
//
// A call of the person's own token acts as the person. A call of a connected app is judged like one
// of the agent: a rule or the person decides about it. While the person has not answered, the call
// waits; after a while the app gets the failure approval_required and asks for the outcome later.
//
// Files and commands that are used over several calls are sessions: they belong to the caller that
// began them, and do not exist for others.
package catalog
