package tools

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// reach follows a command in the order in which it runs and names the paths that it surely uses: words as they stand, variables that it set to plain
// paths itself, and what is relative to where a cd led. What depends on how something goes, or on more than the text, is known to nobody and left out.
type reach struct {
	named func(word, dir string) string
	add   func(path string, write bool)
	at    spot
	began string
	vars  map[string]string
	loose bool // something in the text may change what cd and variables do
}

// spot is a folder that a command runs in, by the name that the shell has for it and by that of the system. An empty one is unknown.
type spot struct{ name, real string }

// unsettling are commands after which the text alone does not tell what cd and variables do.
var unsettling = map[string]bool{
	"eval": true, "source": true, ".": true, "alias": true, "trap": true, "enable": true, "builtin": true, "command": true, "pushd": true, "popd": true,
	"read": true, "mapfile": true, "readarray": true, "unset": true, "getopts": true, "let": true, "exec": true, "shopt": true, "set": true, "hash": true,
}

func newReach(dir string, named func(word, dir string) string, add func(path string, write bool)) *reach {
	return &reach{named: named, add: add, at: spot{dir, realPath(dir)}, began: dir, vars: make(map[string]string)}
}

// file follows a whole text.
func (r *reach) file(f *syntax.File) {
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl, *syntax.DeclClause, *syntax.LetClause, *syntax.ArithmCmd, *syntax.ArithmExp, *syntax.CStyleLoop, *syntax.CoprocClause:
			r.loose = true
		case *syntax.ParamExp:
			r.loose = r.loose || n.Exp != nil || n.Index != nil // ${X:=value} sets it
		case *syntax.Assign:
			r.loose = r.loose || n.Name == nil || n.Index != nil || n.Array != nil || n.Append || n.Name.Value == "IFS" || n.Name.Value == "CDPATH"
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				name := filepath.Base(plain(n.Args[0]))
				r.loose = r.loose || plain(n.Args[0]) == "" || unsettling[name] || name == "printf" && len(n.Args) > 1 && strings.HasPrefix(plain(n.Args[1]), "-v")
			}
		}
		return true
	})
	r.list(f.Stmts)
}

func (r *reach) list(list []*syntax.Stmt) {
	for _, s := range list {
		r.stmt(s)
	}
}

// apart follows what changes nothing for what comes after it.
func (r *reach) apart(follow func()) {
	at, vars := r.at, r.vars
	r.vars = make(map[string]string, len(vars))
	for k, v := range vars {
		r.vars[k] = v
	}
	follow()
	r.at, r.vars = at, vars
}

// maybe follows what may run, often, or not at all: what it changes is unknown inside of it and afterwards.
func (r *reach) maybe(n syntax.Node, follow func()) {
	r.forget(n)
	r.apart(follow)
}

// forget gives up what the commands of n may change.
func (r *reach) forget(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				delete(r.vars, n.Name.Value)
			}
		case *syntax.WordIter:
			delete(r.vars, n.Name.Value)
		case *syntax.CallExpr:
			if len(n.Args) > 0 && plain(n.Args[0]) == "cd" {
				r.at = spot{}
			}
		}
		return true
	})
}

func (r *reach) stmt(s *syntax.Stmt) {
	for _, d := range s.Redirs {
		switch d.Op {
		case syntax.RdrIn, syntax.RdrInOut:
			r.path(r.word(d.Word), d.Op == syntax.RdrInOut)
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.AppClob, syntax.RdrAll, syntax.AppAll:
			r.path(r.word(d.Word), true)
		}
		r.inside(d)
	}
	switch {
	case s.Cmd == nil:
	case s.Background || s.Negated:
		r.maybe(s.Cmd, func() { r.command(s.Cmd) })
	default:
		r.command(s.Cmd)
	}
}

func (r *reach) command(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		r.call(c)
	case *syntax.BinaryCmd:
		switch c.Op {
		case syntax.AndStmt:
			r.chain(c)
		case syntax.OrStmt:
			r.apart(func() { r.stmt(c.X) })
			r.forget(c.X)
			r.maybe(c.Y, func() { r.stmt(c.Y) })
		default:
			r.apart(func() { r.stmt(c.X) })
			r.apart(func() { r.stmt(c.Y) })
			r.forget(c.Y) // some shells run the end of a pipeline themselves
		}
	case *syntax.Block:
		r.list(c.Stmts)
	case *syntax.Subshell:
		r.apart(func() { r.list(c.Stmts) })
	default:
		r.maybe(c, func() { r.inside(c) })
	}
}

// chain follows a && b && c. Each runs only when those before it did, so that what all but the first change is known in the chain and not after it.
func (r *reach) chain(c *syntax.BinaryCmd) {
	var links []*syntax.Stmt
	for {
		links = append(links, c.Y)
		x, ok := c.X.Cmd.(*syntax.BinaryCmd)
		if !ok || x.Op != syntax.AndStmt || len(c.X.Redirs) > 0 || c.X.Negated {
			links = append(links, c.X)
			break
		}
		c = x
	}
	for _, s := range slices.Backward(links) {
		r.stmt(s)
	}
	for _, s := range links[:len(links)-1] {
		r.forget(s)
	}
}

// inside follows the statements in a node that is none, in unknown order.
func (r *reach) inside(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok {
			r.apart(func() { r.stmt(s) })
			return false
		}
		return true
	})
}

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
			delete(r.vars, a.Name.Value) // before a command it is that command's, but for what some shells make of it
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
		r.path(r.at.real, !onlyRead[name]) // it works in the folder where it was sent
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
		return // above a link, the shell and the system differ about where it leads
	}
	dir := r.named(args[0], was.name)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return // it will fail, or the command makes it
	}
	r.at = spot{dir, realPath(dir)}
}

// path adds a path as a command names it.
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

// word is a word with the variables that are known; empty when it is not known.
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
