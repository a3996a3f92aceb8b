package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/node/access"

	"mvdan.cc/sh/v3/syntax"
)

func (r *pathTracer) call(c *syntax.CallExpr) {
	for _, w := range c.Args {
		r.nested(w)
	}
	for _, a := range c.Assigns {
		if a.Value != nil {
			r.nested(a.Value)
		}
	}
	args := make([]string, len(c.Args))
	for i, w := range c.Args {
		args[i] = r.expandWord(w)
	}
	for _, a := range c.Assigns {
		if v := r.expandWord(a.Value); a.Name != nil {
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
		r.changeDir(args[1:])
		return
	}
	name := filepath.Base(args[0])
	if r.cwd.name != "" && r.cwd.name != r.startDir && args[0] != "" {
		r.addPath(r.cwd.real, !readOnlyPrograms[name]) // it works in its current folder
	}
	pathsOf(name, args[1:], r.addPath)
}

// changeDir follows a cd.
func (r *pathTracer) changeDir(args []string) {
	was := r.cwd
	r.cwd = location{}
	if r.isUncertain || len(args) != 1 || args[0] == "" || strings.HasPrefix(args[0], "-") || strings.ContainsAny(args[0], "*?[") {
		return
	}
	if !filepath.IsAbs(args[0]) && !strings.HasPrefix(args[0], "~") && (was.name == "" || os.Getenv("CDPATH") != "" && !strings.HasPrefix(args[0], ".")) {
		return
	}
	if was.name != was.real && slices.Contains(strings.Split(args[0], "/"), "..") {
		return // above a link, shell and system disagree about the target
	}
	dir := r.resolve(args[0], was.name)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return // it will fail, or the command creates the folder
	}
	r.cwd = location{dir, access.RealPath(dir)}
}

// addPath adds a path that a command names.
func (r *pathTracer) addPath(word string, write bool) {
	if word == "" || r.cwd.name == "" && !filepath.IsAbs(word) && !strings.HasPrefix(word, "~") {
		return
	}
	dir := r.cwd.real
	if r.cwd.name == r.startDir {
		dir = r.startDir
	}
	r.add(r.resolve(word, dir), write)
}

// expandWord returns a word with known variables expanded; empty when it is unknown.
func (r *pathTracer) expandWord(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	if text := literalText(w); text != "" {
		return text
	}
	if r.isUncertain {
		return ""
	}
	var b strings.Builder
	for _, part := range w.Parts {
		if q, ok := part.(*syntax.DblQuoted); ok {
			for _, p := range q.Parts {
				if !r.expandPart(&b, p) {
					return ""
				}
			}
		} else if !r.expandPart(&b, part) {
			return ""
		}
	}
	return b.String()
}

func (r *pathTracer) expandPart(b *strings.Builder, p syntax.WordPart) bool {
	switch p := p.(type) {
	case *syntax.Lit, *syntax.SglQuoted:
		b.WriteString(literalText(&syntax.Word{Parts: []syntax.WordPart{p}}))
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
