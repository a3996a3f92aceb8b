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

// maxMethods is the limit of a type's methods. A larger type is two types. Linters check the lengths
// of functions and interfaces (.golangci.yml).
const maxMethods = 25

func TestNoTypeHasTooManyMethods(t *testing.T) {
	methods := map[string]map[string]bool{} // by folder and type; a set, because systems have files of their own
	readSources(t, func(name string, _ *token.FileSet, file *ast.File) {
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
				key := filepath.Dir(name) + "." + receiverName(f.Recv.List[0].Type)
				if methods[key] == nil {
					methods[key] = map[string]bool{}
				}
				methods[key][f.Name.Name] = true
			}
		}
	})
	if len(methods) < 500 {
		t.Fatalf("found %d types with methods, want the whole repository", len(methods))
	}
	for name, list := range methods {
		if len(list) > maxMethods {
			t.Errorf("%s has %d methods, want at most %d", name, len(list), maxMethods)
		}
	}
}

// readSources parses every file of the module for any system, without its tests.
func readSources(t *testing.T, read func(name string, at *token.FileSet, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		at := token.NewFileSet()
		file, err := parser.ParseFile(at, name, nil, parser.SkipObjectResolution)
		if err == nil {
			read(filepath.ToSlash(name), at, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
