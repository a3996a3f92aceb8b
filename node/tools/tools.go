// Package tools puts a node's tools together, in the order of GSV: Bash and Process of package
// shell, Read, Write and Edit of package file, Glob and Grep of package search.
package tools

import (
	"fairlead/gateway/peer/toolkit"
	"fairlead/node/access"
	"fairlead/node/file"
	"fairlead/node/search"
	"fairlead/node/shell"
)

// All makes the tools of a node. jobs tracks the commands that Bash starts.
func All(scope access.Scope, jobs *shell.Jobs) []toolkit.Tool[access.Call] {
	list := append(shell.Tools(scope.Root, jobs), file.Tools(scope)...)
	return append(list, search.Glob(scope), search.Grep(scope))
}
