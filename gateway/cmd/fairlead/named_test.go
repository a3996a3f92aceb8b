package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// named finds commands as texts for people name them: "fairlead pair list" in quotes, `fairlead
// pair list` in Markdown, ./fairlead pair list in examples.
var named = regexp.MustCompile("(?:\\\\\"|“|`|\\./)fairlead ([a-z]+)(?: ([a-z]+))?")

func TestCommandsNamedInTextsExist(t *testing.T) {
	root := newRoot()
	root.InitDefaultHelpCmd()
	find := func(c *cobra.Command, name string) *cobra.Command {
		for _, sub := range c.Commands() {
			if sub.Name() == name {
				return sub
			}
		}
		return nil
	}
	found := 0
	top := filepath.Join("..", "..", "..")
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && (d.Name() == "build" || d.Name() == ".git") {
				return fs.SkipDir
			}
			return err
		}
		switch filepath.Ext(path) {
		case ".go", ".md", ".sh", ".ps1":
		default:
			return nil
		}
		if d.Name() == "CHANGELOG.md" || strings.HasSuffix(path, "_test.go") {
			return nil // what once was, and what must not be
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if !strings.Contains(line, "fairlead ") {
				continue // most lines, for which the pattern is slow
			}
			for _, m := range named.FindAllStringSubmatch(line, -1) {
				found++
				c := find(root, m[1])
				switch {
				case c == nil:
					t.Errorf("%s names %q: there is no such command", path, m[0])
				case m[2] != "" && c.HasSubCommands() && find(c, m[2]) == nil && !strings.Contains(c.Use, "["):
					t.Errorf("%s names %q: %s has no such command", path, m[0], c.Name())
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 30 {
		t.Errorf("only %d commands were found in texts: the pattern is wrong, want at least 30", found)
	}
}
