// Package catalog offers tools to programs that call over MCP, REST or the command line: what they
// are called, what they take and return, which scopes they need, and how a call becomes a call of
// the tool pipeline. Each interface is a thin adapter over it.
package catalog
