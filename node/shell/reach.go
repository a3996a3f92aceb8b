package shell

import (
	"path/filepath"
	"slices"
	"strings"

	"fairlead/node/access"

	"mvdan.cc/sh/v3/syntax"
)

// reach follows a command in its order of execution and collects the paths that it certainly uses:
// literal words, variables that it set to literal paths, and paths relative to the target of a cd.
// Anything that depends on the outcome of a command, or on more than the text, is unknown and is
// left out.
type reach struct {
	named func(word, dir string) string
	add   func(path string, write bool)
	at    spot
	began string
	vars  map[string]string
	loose bool // the text may change the meaning of cd and variables
}

// spot is a command's working folder, by the name that the shell uses and by the real one. An empty
// one is unknown.
type spot struct{ name, real string }

// unsettling are commands after which the text alone does not determine the effect of cd and
// variables.
var unsettling = map[string]bool{
	"eval": true, "source": true, ".": true, "alias": true, "trap": true, "enable": true, "builtin": true, "command": true, "pushd": true, "popd": true,
	"read": true, "mapfile": true, "readarray": true, "unset": true, "getopts": true, "let": true, "exec": true, "shopt": true, "set": true, "hash": true,
}

func newReach(dir string, named func(word, dir string) string, add func(path string, write bool)) *reach {
	return &reach{named: named, add: add, at: spot{dir, access.RealPath(dir)}, began: dir, vars: make(map[string]string)}
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

// apart follows code that does not affect later code.
func (r *reach) apart(follow func()) {
	at, vars := r.at, r.vars
	r.vars = make(map[string]string, len(vars))
	for k, v := range vars {
		r.vars[k] = v
	}
	follow()
	r.at, r.vars = at, vars
}

// maybe follows code that may run once, repeatedly, or not at all: the values that it changes are
// unknown inside it and afterwards.
func (r *reach) maybe(n syntax.Node, follow func()) {
	r.forget(n)
	r.apart(follow)
}

// forget marks the values that the commands of n may change as unknown.
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
			r.forget(c.Y) // some shells run the last command of a pipeline themselves
		}
	case *syntax.Block:
		r.list(c.Stmts)
	case *syntax.Subshell:
		r.apart(func() { r.list(c.Stmts) })
	default:
		r.maybe(c, func() { r.inside(c) })
	}
}

// chain follows a && b && c. Each runs only if those before it succeeded, so the effects of all but
// the first are known in the chain but not after it.
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

// inside follows the statements within a node that is not a statement, in unknown order.
func (r *reach) inside(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok {
			r.apart(func() { r.stmt(s) })
			return false
		}
		return true
	})
}
