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

// entrances are the places that make calls and steps, by file, with the number of them: every path
// from a surface, a chat, a schedule or a transfer to a machine begins at one. A new surface adds
// its line here. What they make goes to a method of tool.Pipeline, because no other package takes
// it (TestOnePathLeadsToTheMachines).
var entrances = map[string]int{
	"gateway/agent/run.go":                  1, // a model's call, in a chat, a schedule or a channel
	"gateway/session/direct.go":             1, // a command that the person types
	"gateway/catalog/target.go":             2, // MCP, REST and the command line, and what they continue
	"gateway/catalog/observe.go":            1, // a watched file
	"gateway/servers/transport.go":          1, // the command of an MCP server
	"gateway/servers/process/process.go":    1, // its start
	"gateway/servers/process/connection.go": 1, // its input
	"gateway/surface/rpc/call.go":           3, // tool.invoke and tool.request
	"gateway/surface/rpc/browse.go":         1, // the file browser
	"gateway/services.go":                   1, // the question about a changed certificate of an app
	"gateway/transfer/call.go":              1,
	"gateway/transfer/listing.go":           1,
}

func TestEveryCallEntersThePipeline(t *testing.T) {
	found := map[string]int{}
	readSources(t, func(name string, _ *token.FileSet, file *ast.File) {
		name = strings.TrimPrefix(name, "../")
		ast.Inspect(file, func(n ast.Node) bool {
			made, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if of, ok := made.Type.(*ast.SelectorExpr); ok && len(made.Elts) > 0 && isNamed(of.X, "tool") && (of.Sel.Name == "Call" || of.Sel.Name == "Step") {
				found[name]++
			}
			return true
		})
	})
	if !maps.Equal(found, entrances) {
		t.Errorf("places that make calls: got %v, want %v", found, entrances)
	}
}

// TestOneStageExecutesCalls: in package tool, the targets alone reach the machines and the servers,
// and the pipeline alone reaches the targets.
func TestOneStageExecutesCalls(t *testing.T) {
	want := map[string][]string{
		"executor":   {"cleanup.go", "nodetool.go", "registry.go"}, // Cleanup ends what calls have left, without a call
		"servers":    {"registry.go", "servertool.go"},
		"Execute":    {"continue.go", "execute.go", "owntool.go"},
		"Rejoin":     {"nodetool.go", "recover.go"},
		"authorize(": {"authorize.go", "continue.go", "plan.go"},
	}
	found := map[string][]string{}
	readSources(t, func(name string, _ *token.FileSet, file *ast.File) {
		base, isTool := strings.CutPrefix(name, "../gateway/tool/")
		if !isTool || strings.Contains(base, "/") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			use := ""
			switch n := n.(type) {
			case *ast.SelectorExpr:
				use = n.Sel.Name
			case *ast.CallExpr:
				if isNamed(n.Fun, "authorize") {
					use = "authorize("
				}
			}
			if want[use] != nil && !slices.Contains(found[use], base) {
				found[use] = append(found[use], base)
			}
			return true
		})
	})
	for use, files := range want {
		if slices.Sort(found[use]); !slices.Equal(found[use], files) {
			t.Errorf("files of package tool that use %s: got %v, want %v", use, found[use], files)
		}
	}
}

// TestOneFileDecidesRights: the stage authorize alone reads which machines a
// caller is limited to. Others ask it, or the lists of tool.Registry.
func TestOneFileDecidesRights(t *testing.T) {
	t.Parallel()
	want := []string{"gateway/auth/auth.go", "gateway/tool/authorize.go"}
	var found []string
	readSources(t, func(name string, _ *token.FileSet, file *ast.File) {
		name = strings.TrimPrefix(name, "../")
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name == "LimitedTo" && !slices.Contains(found, name) {
				found = append(found, name)
			}
			return true
		})
	})
	if slices.Sort(found); !slices.Equal(found, want) {
		t.Errorf("files that read the machines of a caller: got %v, want %v", found, want)
	}
}

// TestSurfacesOfProgramsDecideNothing: what serves programs does not compare scopes. It asks
// package tool.
func TestSurfacesOfProgramsDecideNothing(t *testing.T) {
	t.Parallel()
	readSources(t, func(name string, fset *token.FileSet, file *ast.File) {
		name = strings.TrimPrefix(name, "../")
		isSurface := func(at string) bool { return strings.HasPrefix(name, at) }
		if !slices.ContainsFunc([]string{"gateway/catalog/", "gateway/surface/mcp/", "gateway/surface/rest/", "gateway/tool/job/"}, isSurface) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if use, ok := n.(*ast.SelectorExpr); ok && use.Sel.Name == "Has" {
				t.Errorf("%s decides by a scope: use tool.CheckAccess", fset.Position(use.Pos()))
			}
			return true
		})
	})
}

func isNamed(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
