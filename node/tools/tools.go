// Package tools puts a node's tools together, in the order of GSV: Bash and Process of package
// shell, Read, Write and Edit of package file, Glob and Grep of package search. Those for programs
// come last: command and serve of package shell, fs_glob and fs_grep of package search, and those
// of packages fs and netinfo.
package tools

import (
	"slices"
	"time"

	"fairlead/gateway/peer/toolkit"
	"fairlead/node/access"
	"fairlead/node/file"
	"fairlead/node/fs"
	"fairlead/node/netinfo"
	"fairlead/node/search"
	"fairlead/node/shell"
)

// All makes the tools of a node. jobs tracks the commands that Bash starts.
func All(scope access.Scope, jobs *shell.Jobs) []toolkit.Tool[access.Call] {
	return slices.Concat(shell.Tools(scope.Root, jobs), file.Tools(scope), []toolkit.Tool[access.Call]{search.Glob(scope), search.Grep(scope)}, ForPrograms(scope, jobs))
}

// ForPrograms makes the tools that only programs use.
func ForPrograms(scope access.Scope, jobs *shell.Jobs) []toolkit.Tool[access.Call] {
	return slices.Concat([]toolkit.Tool[access.Call]{shell.Command(scope.Root, jobs), shell.Serve(scope.Root, jobs), search.GlobStream(scope), search.Stream(scope)}, fs.Tools(scope), netinfo.Tools(time.Now()))
}
