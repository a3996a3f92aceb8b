package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/node/access"

	"mvdan.cc/sh/v3/syntax"
)

func (r *reach) call(c *syntax.CallExpr) {
	for _, w := range c.Args {
		r.inside(w)
	}
	for _, a := range c.Assigns {
		if a.Value != nil {
			r.inside(a.Value)
		}
	}
	args := make([]string, len(c.Args))
	for i, w := range c.Args {
		args[i] = r.word(w)
	}
	for _, a := range c.Assigns {
		if v := r.word(a.Value); a.Name != nil {
			// Before a command, it applies to that command only, except in some shells.
			delete(r.vars, a.Name.Value)
			if len(c.Args) == 0 && filepath.IsAbs(v) && !strings.ContainsAny(v, " \t\n*?[") {
				r.vars[a.Name.Value] = v
			}
		}
	}
	if len(args) == 0 {
		return
	}
	if args[0] == "cd" {
		r.enter(args[1:])
		return
	}
	name := filepath.Base(args[0])
	if r.at.name != "" && r.at.name != r.began && args[0] != "" {
		r.path(r.at.real, !onlyRead[name]) // it works in its current folder
	}
	pathsOf(name, args[1:], r.path)
}

// enter follows a cd.
func (r *reach) enter(args []string) {
	was := r.at
	r.at = spot{}
	if r.loose || len(args) != 1 || args[0] == "" || strings.HasPrefix(args[0], "-") || strings.ContainsAny(args[0], "*?[") {
		return
	}
	if !filepath.IsAbs(args[0]) && !strings.HasPrefix(args[0], "~") && (was.name == "" || os.Getenv("CDPATH") != "" && !strings.HasPrefix(args[0], ".")) {
		return
	}
	if was.name != was.real && slices.Contains(strings.Split(args[0], "/"), "..") {
		return // above a link, shell and system disagree about the target
	}
	dir := r.named(args[0], was.name)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return // it will fail, or the command creates the folder
	}
	r.at = spot{dir, access.RealPath(dir)}
}

// path adds a path that a command names.
func (r *reach) path(word string, write bool) {
	if word == "" || r.at.name == "" && !filepath.IsAbs(word) && !strings.HasPrefix(word, "~") {
		return
	}
	dir := r.at.real
	if r.at.name == r.began {
		dir = r.began
	}
	r.add(r.named(word, dir), write)
}

// word returns a word with known variables expanded; empty when it is unknown.
func (r *reach) word(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	if text := plain(w); text != "" {
		return text
	}
	if r.loose {
		return ""
	}
	var b strings.Builder
	for _, part := range w.Parts {
		if q, ok := part.(*syntax.DblQuoted); ok {
			for _, p := range q.Parts {
				if !r.part(&b, p) {
					return ""
				}
			}
		} else if !r.part(&b, part) {
			return ""
		}
	}
	return b.String()
}

func (r *reach) part(b *strings.Builder, p syntax.WordPart) bool {
	switch p := p.(type) {
	case *syntax.Lit, *syntax.SglQuoted:
		b.WriteString(plain(&syntax.Word{Parts: []syntax.WordPart{p}}))
		return true
	case *syntax.ParamExp:
		bare := p.Param != nil && !p.Excl && !p.Length && !p.Width && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil && p.Names == 0
		if !bare || r.vars[p.Param.Value] == "" {
			return false
		}
		b.WriteString(r.vars[p.Param.Value])
		return true
	}
	return false
}
