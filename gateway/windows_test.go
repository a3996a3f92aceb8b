package gateway_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pages are the packages of pages, and that of the sidebar. None of them imports another one.
var pages = []string{
	"app/activity", "app/apps", "app/archive", "app/audit", "app/channels", "app/exposure", "app/files", "app/nodes", "app/rules", "app/schedule", "app/search",
	"app/palette", "app/services", "app/settings", "app/skills", "app/terminal", "app/tools", "app/transfers", "app/chat", "app/sidebar",
}

// inbox is the package of questions. Pages show its cards, and it imports no page either.
const inbox = "app/inbox"

// noGateway are the packages that know nothing of a gateway.
var noGateway = []string{
	"app/widgets", "app/typeset", "app/markdown", "app/code", "app/diff", "app/selection", "app/style", "app/fonts", "app/native", "app/lists", "app/transcript",
}

func TestPagesDependOnTheirHostOnly(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t, "linux") {
		name, ok := local(p.ImportPath)
		if !ok || name != inbox && !slices.Contains(pages, name) {
			continue
		}
		var bad []string
		for _, i := range p.Imports {
			if to, ok := local(i); ok && (to == "app" || to != name && slices.Contains(pages, to)) {
				bad = append(bad, to)
			}
		}
		if len(bad) > 0 {
			t.Errorf("%s imports %v, want no other page and not the windows", name, bad)
		}
	}
}

// TestPartsOfWindowsDoNotKnowTheWhole checks that the type ui, which knows all parts, is used only where
// it is defined and started: the others get what they need in their constructors.
func TestPartsOfWindowsDoNotKnowTheWhole(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../app/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for n := range ast.Preorder(f) {
			if id, ok := n.(*ast.Ident); ok && (id.Name == "ui" || id.Name == "newUI") {
				got = append(got, filepath.Base(file))
				break
			}
		}
	}
	if want := []string{"run.go", "ui.go"}; !slices.Equal(got, want) {
		t.Errorf("files that use the type ui: got %v, want %v", got, want)
	}
}

func TestWidgetsDoNotImportTheGateway(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t, "linux") {
		name, ok := local(p.ImportPath)
		if !ok || !slices.Contains(noGateway, name) {
			continue
		}
		var bad []string
		for _, i := range p.Imports {
			if to, ok := local(i); ok && (underAny(to, []string{"app/feed", "gateway/protocol"}) || slices.Contains(pages, to)) {
				bad = append(bad, to)
			}
		}
		if len(bad) > 0 {
			t.Errorf("%s imports %v, want nothing of a gateway", name, bad)
		}
	}
}

// TestModelsDoNotImportTheToolkit checks the models and words of pages; Fyne is for views only.
func TestModelsDoNotImportTheToolkit(t *testing.T) {
	t.Parallel()
	var files []string
	for _, page := range slices.Concat(pages, []string{inbox}) {
		for _, name := range []string{"model.go", "words.go"} {
			list, err := filepath.Glob("../" + page + "/" + name)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, list...)
		}
	}
	files = append(files, "../tray/model.go")
	if len(files) == 0 {
		t.Fatal("got no models, want those of the pages")
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			to, _ := local(path)
			if strings.HasPrefix(path, "fyne.io/") || slices.Contains([]string{"app/widgets", "app/style", "app/bind"}, to) {
				t.Errorf("%s imports %s, want no toolkit in models and words", file, path)
			}
		}
	}
}
