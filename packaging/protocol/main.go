// Protocol writes docs/protocol-reference.md: every method, event and type of package protocol,
// with its fields and comments.
//
//	go run ./packaging/protocol          write the file
//	go run ./packaging/protocol -check   exit with status 1 when it is out of date
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"fairlead/gateway/protocol"
)

const (
	source = "gateway/protocol"
	target = "docs/protocol-reference.md"
)

const head = `# Protocol reference

Generated from the comments of package ` + "`gateway/protocol`" + ` by ` + "`go run ./packaging/protocol`" + `. The guide is [protocol.md](protocol.md).

Times are Unix milliseconds. An optional field may be missing; then its value is the type's zero value unless its comment says
otherwise. *Extension* marks what a peer need not know.
`

// reference collects the declarations of the package.
type reference struct {
	methods map[string][2]ast.Expr // params and result types by method name
	types   map[string]*ast.TypeSpec
	queue   []string // types to describe, in the order of their first use
	queued  map[string]bool
}

func main() {
	check := flag.Bool("check", false, "fail when the file is out of date, and write nothing")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "protocol:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	r := reference{methods: map[string][2]ast.Expr{}, types: map[string]*ast.TypeSpec{}, queued: map[string]bool{}}
	files, err := filepath.Glob(source + "/*.go")
	if err != nil {
		return err
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		r.collect(tree)
	}
	text, err := r.text()
	if err != nil {
		return err
	}
	old, err := os.ReadFile(target)
	switch {
	case err == nil && bytes.Equal(old, text):
		return nil
	case check:
		return fmt.Errorf("%s is out of date; run: go run ./packaging/protocol", target)
	}
	return os.WriteFile(target, text, 0o644)
}

// collect reads the types of a file, and its methods: Method[Params, Result]{"name", …}.
func (r *reference) collect(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			if t, ok := n.Specs[0].(*ast.TypeSpec); ok && len(n.Specs) == 1 && t.Doc == nil {
				t.Doc = n.Doc
			}
		case *ast.TypeSpec:
			r.types[n.Name.Name] = n
		case *ast.CompositeLit:
			r.method(n)
		case *ast.FuncDecl:
			return false
		}
		return true
	})
}

func (r *reference) method(c *ast.CompositeLit) {
	i, ok := c.Type.(*ast.IndexListExpr)
	if !ok || len(c.Elts) == 0 {
		return
	}
	name, isText := c.Elts[0].(*ast.BasicLit)
	if id, ok := i.X.(*ast.Ident); !ok || !isText || id.Name != "Method" {
		return
	}
	if s, err := strconv.Unquote(name.Value); err == nil {
		r.methods[s] = [2]ast.Expr{i.Indices[0], i.Indices[1]}
	}
}

func (r *reference) text() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(head)
	b.WriteString("\n## Methods\n\n| method | callers | scope | params | result | |\n|---|---|---|---|---|---|\n")
	for _, m := range protocol.Methods {
		t, ok := r.methods[m.Name]
		if !ok {
			return nil, fmt.Errorf("method %s has no types", m.Name)
		}
		var callers []string
		for _, c := range m.Modes {
			callers = append(callers, string(c))
		}
		note := ""
		if m.Extension {
			note = "extension"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", m.Name, strings.Join(callers, ", "), m.Scope, r.typeName(t[0]), r.typeName(t[1]), note)
	}
	b.WriteString("\n## Events\n\n")
	for _, e := range protocol.Events {
		fmt.Fprintf(&b, "- `%s`\n", e)
	}
	for _, name := range []string{
		"ChatEvent", "ToolInvoke", "ToolCancel", "LogsGet", "TransferSend", "TransferStartEvent", "TransferReceive", "TransferEnd",
		"TransferStop", "TransferUndoEvent", "Change", "Error",
	} {
		r.use(name)
	}
	b.WriteString("\n## Types\n")
	for i := 0; i < len(r.queue); i++ {
		r.describe(&b, r.queue[i])
	}
	return b.Bytes(), nil
}

// use adds a type to the queue, once.
func (r *reference) use(name string) {
	if r.types[name] != nil && !r.queued[name] {
		r.queued[name] = true
		r.queue = append(r.queue, name)
	}
}

// typeName returns the JSON name of a type, with a link if the type is described.
func (r *reference) typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		if t := r.types[e.Name]; t != nil {
			if _, ok := t.Type.(*ast.StructType); !ok {
				return r.typeName(t.Type)
			}
			r.use(e.Name)
			return "[" + e.Name + "](#" + strings.ToLower(e.Name) + ")"
		}
		switch {
		case e.Name == "string", e.Name == "any":
			return e.Name
		case e.Name == "bool":
			return "boolean"
		}
		return "number"
	case *ast.StarExpr:
		return r.typeName(e.X)
	case *ast.ArrayType:
		return "list of " + r.typeName(e.Elt)
	case *ast.MapType:
		return "object of " + r.typeName(e.Value)
	}
	return "any" // json.RawMessage
}

func (r *reference) describe(b *bytes.Buffer, name string) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n", name, oneLine(r.types[name].Doc.Text()))
	s, ok := r.types[name].Type.(*ast.StructType)
	if !ok || len(s.Fields.List) == 0 {
		return
	}
	b.WriteString("\n| field | type | | |\n|---|---|---|---|\n")
	for _, f := range s.Fields.List {
		if f.Tag == nil {
			continue
		}
		raw, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			continue
		}
		key, rest, _ := strings.Cut(reflect.StructTag(raw).Get("json"), ",")
		if key == "-" || key == "" {
			continue
		}
		optional := ""
		if strings.Contains(rest, "omitempty") {
			optional = "optional"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", key, r.typeName(f.Type), optional, oneLine(f.Doc.Text()+" "+f.Comment.Text()))
	}
}

// oneLine formats a comment for a table cell.
func oneLine(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}
