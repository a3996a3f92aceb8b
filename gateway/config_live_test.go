package gateway_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoPackageCopiesTheConfiguration checks the reason why every setting takes effect at once:
// outside of package config, no struct and no package variable stores a value of it. Code reads a
// setting when it needs it.
func TestNoPackageCopiesTheConfiguration(t *testing.T) {
	looked := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if path == "config" || d.Name() == "testdata" || strings.HasSuffix(d.Name(), "test") {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		looked++
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok == token.IMPORT {
				continue
			}
			ast.Inspect(g, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncType, *ast.InterfaceType:
					// function types only describe how to read a setting
					return false
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "config" && n.Sel.Name != "Store" {
						t.Errorf("%s keeps config.%s", set.Position(n.Pos()), n.Sel.Name)
					}
				}
				return true
			})
		}
		return nil
	})
	if err != nil || looked < 100 {
		t.Errorf("got %d files, %v; want no error and looked at least 100", looked, err)
	}
}
