package search

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestNamesFindsFilesAndFoldersBelowByWords(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i, name := range []string{
		"src/parse/Lexer.go", "src/lexer_test.go", "lexers/notes.txt", "node_modules/lexer/index.js", "sub/.git/lexer", ".cache/lexer", "build/lexer.o", "other.txt",
	} {
		at := time.Unix(int64(10_000-i), 0) // the first is the newest
		if err := os.Chtimes(b.File(name, ""), at, at); err != nil {
			t.Fatal(err)
		}
	}
	b.File(".gitignore", "build/\n")
	for query, want := range map[string]string{
		"lexer":      "lexers/ src/parse/Lexer.go src/lexer_test.go",
		"LEXER src":  "src/parse/Lexer.go src/lexer_test.go",
		"src":        "src/",
		"src/parse":  "",
		"parse lex":  "src/parse/Lexer.go",
		"lexer test": "src/lexer_test.go",
		"none":       "",
		" ":          "",
	} {
		out, err := Names(t.Context(), b.WS, query, 10)
		var got []string
		for _, f := range out.Found {
			if f.Folder {
				f.Path += "/"
			}
			got = append(got, f.Path)
		}
		if text := strings.Join(got, " "); err != nil || text != want || out.Cut {
			t.Errorf("%q: got %q, cut: %v, error %v, want %q", query, text, out.Cut, err, want)
		}
	}
}

func TestNamesSaysThatThereAreMore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 20 {
		b.File(fmt.Sprintf("d%d/f%d.txt", i%3, i), "")
	}
	if out, err := Names(t.Context(), b.WS, "txt", 5); err != nil || len(out.Found) != 5 || !out.Cut {
		t.Errorf("got %d files, cut: %v, error %v, want 5 of more", len(out.Found), out.Cut, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if out, err := Names(ended, b.WS, "txt", 5); err != nil || !out.Cut {
		t.Errorf("after its end: got %+v, error %v, want an incomplete result", out, err)
	}
}

func BenchmarkNamesInFiftyThousandFiles(b *testing.B) {
	bench := newBench(b)
	for i := range 50_000 {
		bench.File(fmt.Sprintf("d%d/e%d/file-%05d.txt", i%50, i%1000, i), "")
	}
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		if out, err := Names(b.Context(), bench.WS, "file 4999", 50); err != nil || len(out.Found) != 15 {
			b.Fatalf("got %d files, error %v, want 15", len(out.Found), err)
		}
		took = append(took, time.Since(began))
	}
	b.ReportMetric(float64(slices.Max(took).Milliseconds()), "ms-longest")
}
