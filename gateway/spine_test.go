package gateway_test

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// sideDoors are the places beside package tool that use the message with which a call reaches a
// node or a server, by file, with the number of uses. Such a call is not judged and not recorded.
// The list stays empty.
var sideDoors = map[string]int{}

// spine are the packages on the path of every call: the wire type, the stages, and what the last
// stage calls.
var spine = []string{"gateway/protocol/", "gateway/tool/", "gateway/nodes/", "gateway/servers/call.go"}

func TestOnePathLeadsToTheMachines(t *testing.T) {
	found := map[string]int{}
	inSpine := false
	readSources(t, func(name string, _ *token.FileSet, file *ast.File) {
		name = strings.TrimPrefix(name, "../")
		isSpine := slices.ContainsFunc(spine, func(at string) bool { return strings.HasPrefix(name, at) })
		if !strings.HasPrefix(name, "gateway/") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			use, ok := n.(*ast.SelectorExpr)
			if !ok || use.Sel.Name != "ToolInvoke" && use.Sel.Name != "EventToolInvoke" {
				return true
			}
			if inSpine = inSpine || isSpine; !isSpine {
				found[name]++
			}
			return true
		})
	})
	if !inSpine {
		t.Fatal("the path of calls was not found")
	}
	names := map[string]bool{}
	for _, list := range []map[string]int{found, sideDoors} {
		for name := range list {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if found[name] != sideDoors[name] {
			t.Errorf("%s calls nodes in %d places, want %d: use tool.Pipeline", name, found[name], sideDoors[name])
		}
	}
}
