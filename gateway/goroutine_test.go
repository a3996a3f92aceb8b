package gateway_test

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"
)

// mechanism is the package whose functions start goroutines. There, a panic is the failure of its own
// work.
const mechanism = "../gateway/peer/crash"

// withoutMechanism are the packages that may start goroutines themselves, and why.
var withoutMechanism = map[string]string{
	mechanism:                        "it starts those of all others",
	"../packaging/conformance":       "a program for tests that ends with its first failure",
	"../app/desktoptest/frames":      "a program that measures, for developers",
	"../app/feed/feedtest":           "test support",
	"../node/tooltest":               "test support",
	"../gateway/channel/channeltest": "test support",
	"../gateway/tool/tooltest":       "test support",
	"../gateway/gatewaytest":         "test support",
}

// starters are the functions and types of other packages that start goroutines, and what to use.
var starters = map[string]string{
	"sync.WaitGroup": "crash.Group", "time.AfterFunc": "crash.AfterFunc", "context.AfterFunc": "crash.WhenDone", "errgroup.Group": "crash.Group", "errgroup.WithContext": "crash.Group",
}

func TestEveryGoroutineSurvivesItsPanic(t *testing.T) {
	started := 0
	used := map[string]bool{}
	readSources(t, func(name string, at *token.FileSet, file *ast.File) {
		dir := path.Dir(name)
		ast.Inspect(file, func(n ast.Node) bool {
			instead := ""
			switch n := n.(type) {
			case *ast.GoStmt:
				instead = "crash.Go"
			case *ast.SelectorExpr:
				if p, ok := n.X.(*ast.Ident); ok {
					instead = starters[p.Name+"."+n.Sel.Name]
					if p.Name == "crash" {
						started++
					}
				}
			}
			if instead == "" {
				return true
			}
			if used[dir] = true; withoutMechanism[dir] == "" {
				t.Errorf("%s: a panic here ends the program: use %s", at.Position(n.Pos()), instead)
			}
			return true
		})
	})
	if started < 100 {
		t.Errorf("found %d uses of the mechanism, want those of the whole repository", started)
	}
	for dir, why := range withoutMechanism {
		if !used[dir] {
			t.Errorf("%s starts no goroutine, remove it from the list (%s)", strings.TrimPrefix(dir, "../"), why)
		}
	}
}
