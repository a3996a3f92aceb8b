package gateway_test

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"
)

// TestNoPackageGetsTheWholeStore checks that only the wiring and test support name store.DB: other
// packages get the families of tables that they use.
func TestNoPackageGetsTheWholeStore(t *testing.T) {
	uses := 0
	readSources(t, func(name string, at *token.FileSet, file *ast.File) {
		folder := path.Dir(name)
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || s.Sel.Name != "DB" {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "store" {
				uses++
				if folder != "../gateway" && !strings.HasSuffix(folder, "test") {
					t.Errorf("%s: got store.DB, want the families of tables that the package uses", at.Position(s.Pos()))
				}
			}
			return true
		})
	})
	if uses == 0 {
		t.Error("got no use of store.DB, want that of the gateway")
	}
}
