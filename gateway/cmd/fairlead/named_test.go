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

func TestCommandsThatTextsNameExist(t *testing.T) {
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
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			found++
			c := find(root, m[1])
			switch {
			case c == nil:
				t.Errorf("%s names %q: there is no such command", path, m[0])
			case m[2] != "" && c.HasSubCommands() && find(c, m[2]) == nil && !strings.Contains(c.Use, "["):
				t.Errorf("%s names %q: %s has no such command", path, m[0], c.Name())
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 30 {
		t.Errorf("only %d commands were found in texts: the pattern is wrong", found)
	}
}

// example is a line of a code block in Markdown that runs fairlead, or a command in backquotes.
var example = regexp.MustCompile("(?m)(?:^ *|`|\\$ )(?:\\./)?fairlead ([^`\n#|>;&]+)")

func TestFlagsOfExamplesExist(t *testing.T) {
	top := filepath.Join("..", "..", "..")
	pages, err := filepath.Glob(filepath.Join(top, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range append(pages, filepath.Join(top, "README.md"), filepath.Join(top, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range example.FindAllStringSubmatch(string(text), -1) {
			words := strings.Fields(m[1])
			c, _, err := newRoot().Find(words)
			if err != nil {
				continue // TestCommandsThatTextsNameExist
			}
			c.InitDefaultHelpFlag()
			for _, word := range words {
				name, isFlag := strings.CutPrefix(word, "--")
				if name, _, _ = strings.Cut(name, "="); !isFlag || name == "" {
					continue
				}
				name = strings.TrimRight(name, "`,.)]'")
				if found++; c.Flags().Lookup(name) == nil && c.InheritedFlags().Lookup(name) == nil {
					t.Errorf("%s: %q has no flag --%s", filepath.Base(page), "fairlead "+m[1], name)
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d flags were found: the pattern is wrong", found)
	}
}
