//go:build desktop && gallery

package desktoptest

import (
	"errors"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// galleryPage is one page of the program in the gallery's index: its pictures beside each other.
type galleryPage struct {
	Page     string
	Pictures []string // paths of files, those of one set and size beside each other
}

var index = template.Must(template.New("").Funcs(template.FuncMap{
	"caption": func(file string) string {
		return strings.ReplaceAll(strings.TrimSuffix(filepath.Base(file), ".png"), "-", " ")
	},
}).Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Fairlead: all pages</title>
<style>
body { font: 15px system-ui, sans-serif; margin: 24px; color: #222; background: #eee }
nav { columns: 5; margin-bottom: 32px }
nav a { display: block }
section div { display: flex; gap: 16px; overflow-x: auto; align-items: start; padding-bottom: 12px }
figure { margin: 0 }
figcaption { color: #555; padding: 4px 0 }
img { height: 420px; border: 1px solid #bbb }
</style>
<nav>{{range .}}<a href="#{{.Page}}">{{.Page}}</a>{{end}}</nav>
{{range .}}<section id="{{.Page}}"><h2>{{.Page}}</h2><div>
{{range .Pictures}}<figure><figcaption>{{caption .}}</figcaption><a href="{{.}}"><img loading="lazy" src="{{.}}"></a></figure>
{{end}}</div></section>
{{end}}`))

// TestGalleryIndex writes index.html, which shows the pictures of all tests page by page.
func TestGalleryIndex(t *testing.T) {
	dir := os.Getenv("FAIRLEAD_SHOTS")
	files, err := filepath.Glob(filepath.Join(dir, "*", "*-*-*-*.png"))
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d pictures in %s, %v, want some", len(files), dir, err)
	}
	var shelves []galleryPage
	for _, path := range files {
		_, rest, _ := strings.Cut(filepath.Base(path), "-") // the set
		parts := strings.Split(rest, "-")
		page := strings.Join(parts[:len(parts)-2], " ") // without size and theme
		i, found := slices.BinarySearchFunc(shelves, page, func(s galleryPage, page string) int { return strings.Compare(s.Page, page) })
		if !found {
			shelves = slices.Insert(shelves, i, galleryPage{Page: page})
		}
		shelves[i].Pictures = append(shelves[i].Pictures, filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path)))
	}
	f, err := os.Create(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(index.Execute(f, shelves), f.Close()); err != nil {
		t.Error(err)
	}
}
