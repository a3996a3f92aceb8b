package gateway_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// maxMethods is the limit of a type's methods. Methods of embedded types of this module count, and
// so do functions of the package that take the type first: both are methods in another place. A
// larger type is two types. Linters check the lengths of functions and interfaces (.golangci.yml).
const maxMethods = 25

func TestNoTypeHasTooManyMethods(t *testing.T) {
	t.Parallel()
	types := readTypes(t)
	if len(types) < 500 {
		t.Fatalf("found %d types with methods, want the whole repository", len(types))
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if got := len(types.all(name)); got > maxMethods {
			t.Errorf("%s has %d methods, want at most %d", name, got, maxMethods)
		}
	}
}

// methods are the types of the module by folder and name.
type methods map[string]*typeMethods

// typeMethods are the methods of one type: its own ones, with the functions that take it first, and
// the types it embeds. They are sets, because systems have files of their own.
type typeMethods struct{ own, embedded map[string]bool }

func (m methods) methodsOf(key string) *typeMethods {
	if m[key] == nil {
		m[key] = &typeMethods{map[string]bool{}, map[string]bool{}}
	}
	return m[key]
}

// all returns the type's methods with those of embedded types.
func (m methods) all(key string) map[string]bool {
	list := map[string]bool{}
	seen := map[string]bool{}
	var add func(key string)
	add = func(key string) {
		if m[key] == nil || seen[key] {
			return
		}
		seen[key] = true
		maps.Copy(list, m[key].own)
		for e := range m[key].embedded {
			add(e)
		}
	}
	add(key)
	return list
}

func readTypes(t *testing.T) methods {
	t.Helper()
	all := methods{}
	readSources(t, func(name string, _ *token.FileSet, file *ast.File) {
		dir := strings.TrimPrefix(path.Dir(name), "../")
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if key := ownerOf(dir, decl); key != "" {
					all.methodsOf(key).own[decl.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						for _, e := range embeddedTypes(dir, file, spec) {
							all.methodsOf(dir + "." + spec.Name.Name).embedded[e] = true
						}
					}
				}
			}
		}
	})
	return all
}

// ownerOf returns the type of which a function is a method, or which it takes first as a pointer,
// perhaps after a context; empty without one.
func ownerOf(dir string, f *ast.FuncDecl) string {
	if f.Recv != nil {
		return dir + "." + receiverName(f.Recv.List[0].Type)
	}
	params := f.Type.Params.List
	if strings.Contains(dir, "/cmd/") {
		return "" // the commands of a command line are functions of its connection
	}
	if len(params) > 1 {
		if s, ok := params[0].Type.(*ast.SelectorExpr); ok && s.Sel.Name == "Context" {
			params = params[1:]
		}
	}
	if len(params) == 0 {
		return ""
	}
	if star, ok := params[0].Type.(*ast.StarExpr); ok {
		if name := receiverName(star.X); name != "" {
			return dir + "." + name
		}
	}
	return ""
}

// embeddedTypes returns the types of this module that a struct embeds.
func embeddedTypes(dir string, file *ast.File, spec *ast.TypeSpec) (list []string) {
	s, ok := spec.Type.(*ast.StructType)
	if !ok {
		return nil
	}
	for _, field := range s.Fields.List {
		if len(field.Names) > 0 {
			continue
		}
		if name := receiverName(field.Type); name != "" {
			list = append(list, dir+"."+name)
			continue
		}
		e := field.Type
		if star, ok := e.(*ast.StarExpr); ok {
			e = star.X
		}
		sel, ok := e.(*ast.SelectorExpr)
		if !ok {
			continue
		}
		for _, imp := range file.Imports {
			at := strings.Trim(imp.Path.Value, `"`)
			local, ok := strings.CutPrefix(at, "fairlead/")
			if from, is := sel.X.(*ast.Ident); ok && is && (imp.Name == nil && path.Base(at) == from.Name || imp.Name != nil && imp.Name.Name == from.Name) {
				list = append(list, local+"."+sel.Sel.Name)
			}
		}
	}
	return list
}

// source is a parsed file of the module.
type source struct {
	name string // with / on every system, from this folder
	at   *token.FileSet
	file *ast.File
}

// sources parses every file of the module for any system, without its tests. The tests of the
// structure share the result and only read it.
var sources = sync.OnceValues(func() (list []source, err error) {
	err = filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
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
		list = append(list, source{filepath.ToSlash(name), at, file})
		return err
	})
	return list, err
})

func readSources(t *testing.T, read func(name string, at *token.FileSet, file *ast.File)) {
	t.Helper()
	list, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		read(s.name, s.at, s.file)
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
