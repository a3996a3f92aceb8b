package workspace

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWatchReportsNewFoldersButNotArchives(t *testing.T) {
	home := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	ready, told, done := make(chan struct{}), make(chan []string, 100), make(chan error, 1)
	go func() {
		done <- NewFiles(home, nil).Watch(ctx, func() { close(ready) }, func(paths []string) { told <- paths })
	}()
	<-ready
	for _, name := range []string{"agents/a/sessions/x.jsonl", "agents/a/memory/2026/note.md", "skills/s/SKILL.md"} {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var all []string
	for deadline := time.After(3 * time.Minute); !slices.Contains(all, "agents/a/memory/2026/note.md") || !slices.Contains(all, "skills/s/SKILL.md"); {
		select {
		case paths := <-told:
			if !slices.IsSorted(paths) {
				t.Errorf("not sorted: %q", paths)
			}
			all = append(all, paths...)
		case <-deadline:
			t.Fatalf("only %q was told", all)
		}
	}
	if slices.ContainsFunc(all, func(p string) bool { return strings.HasPrefix(p, "agents/a/sessions/") }) {
		t.Errorf("an archive was told of: %q", all)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
