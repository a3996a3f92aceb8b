//go:build desktop && gallery

package desktoptest

import (
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// shelf is one page of the program in the gallery's index: its pictures beside each other.
type shelf struct {
	Page     string
	Pictures []string // names of files, those of one set and size beside each other
}

var index = template.Must(template.New("").Funcs(template.FuncMap{
	"caption": func(file string) string { return strings.ReplaceAll(strings.TrimSuffix(file, ".png"), "-", " ") },
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

// writeIndex writes index.html, which shows the pictures of a folder page by page.
func writeIndex(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*-*-*-*.png"))
	if err != nil {
		return err
	}
	var shelves []shelf
	for _, path := range files {
		file := filepath.Base(path)
		_, rest, _ := strings.Cut(file, "-") // the set
		parts := strings.Split(rest, "-")
		page := strings.Join(parts[:len(parts)-2], " ") // without size and theme
		i, found := slices.BinarySearchFunc(shelves, page, func(s shelf, page string) int { return strings.Compare(s.Page, page) })
		if !found {
			shelves = slices.Insert(shelves, i, shelf{Page: page})
		}
		shelves[i].Pictures = append(shelves[i].Pictures, file)
	}
	f, err := os.Create(filepath.Join(dir, "index.html"))
	if err != nil {
		return err
	}
	defer f.Close()
	return index.Execute(f, shelves)
}
