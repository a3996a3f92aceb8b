package shell

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/node/workspace"
	"mvdan.cc/sh/v3/syntax"
)

// pathTracer follows a command in its order of execution and collects the paths that it certainly
// uses: literal words, variables that it set to literal paths, and paths relative to the target of
// a cd. Anything that depends on the outcome of a command, or on more than the text, is unknown and
// is left out.
type pathTracer struct {
	add         func(path string, write bool)
	ran         func(dir, name string, args []string) // gets each command whose words and folder are certain; may be nil
	cwd         location
	startDir    string
	vars        map[string]string
	isUncertain bool // the text may change the meaning of cd and variables
}

// location is a command's working folder, by the name that the shell uses and by the real one. An
// empty one is unknown.
type location struct{ name, real string }

// opaqueCommands are commands after which the text alone does not determine the effect of cd and
// variables.
var opaqueCommands = map[string]bool{
	"eval": true, "source": true, ".": true, "alias": true, "trap": true, "enable": true, "builtin": true, "command": true, "pushd": true, "popd": true,
	"read": true, "mapfile": true, "readarray": true, "unset": true, "getopts": true, "let": true, "exec": true, "shopt": true, "set": true, "hash": true,
}

func newPathTracer(dir string, add func(path string, write bool)) *pathTracer {
	return &pathTracer{add: add, cwd: location{dir, workspace.RealPath(dir)}, startDir: dir, vars: make(map[string]string)}
}

func (r *pathTracer) traceFile(f *syntax.File) {
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl, *syntax.DeclClause, *syntax.LetClause, *syntax.ArithmCmd, *syntax.ArithmExp, *syntax.CStyleLoop, *syntax.CoprocClause:
			r.isUncertain = true
		case *syntax.ParamExp:
			r.isUncertain = r.isUncertain || n.Exp != nil || n.Index != nil // ${X:=value} sets it
		case *syntax.Assign:
			r.isUncertain = r.isUncertain || n.Name == nil || n.Index != nil || n.Array != nil || n.Append || n.Name.Value == "IFS" || n.Name.Value == "CDPATH"
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				name := filepath.Base(literalText(n.Args[0]))
				r.isUncertain = r.isUncertain || literalText(n.Args[0]) == "" || opaqueCommands[name] || name == "printf" && len(n.Args) > 1 && strings.HasPrefix(literalText(n.Args[1]), "-v")
			}
		}
		return true
	})
	r.statements(f.Stmts)
}

func (r *pathTracer) statements(list []*syntax.Stmt) {
	for _, s := range list {
		r.stmt(s)
	}
}

// isolate follows code that does not affect later code.
func (r *pathTracer) isolate(follow func()) {
	at, vars := r.cwd, r.vars
	r.vars = maps.Clone(vars)
	follow()
	r.cwd, r.vars = at, vars
}

// conditional follows code that may run once, repeatedly, or not at all: the values that it changes
// are unknown inside it and afterwards.
func (r *pathTracer) conditional(n syntax.Node, follow func()) {
	r.invalidate(n)
	r.isolate(follow)
}

// invalidate marks the values that the commands of n may change as unknown.
func (r *pathTracer) invalidate(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				delete(r.vars, n.Name.Value)
			}
		case *syntax.WordIter:
			delete(r.vars, n.Name.Value)
		case *syntax.CallExpr:
			if len(n.Args) > 0 && literalText(n.Args[0]) == "cd" {
				r.cwd = location{}
			}
		}
		return true
	})
}

func (r *pathTracer) stmt(s *syntax.Stmt) {
	for _, d := range s.Redirs {
		switch d.Op {
		case syntax.RdrIn, syntax.RdrInOut:
			r.addPath(r.expandWord(d.Word), d.Op == syntax.RdrInOut)
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.AppClob, syntax.RdrAll, syntax.AppAll:
			r.addPath(r.expandWord(d.Word), true)
		}
		r.followNested(d)
	}
	switch {
	case s.Cmd == nil:
	case s.Background || s.Negated:
		r.conditional(s.Cmd, func() { r.command(s.Cmd) })
	default:
		r.command(s.Cmd)
	}
}

func (r *pathTracer) command(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		r.call(c)
	case *syntax.BinaryCmd:
		switch c.Op {
		case syntax.AndStmt:
			r.chain(c)
		case syntax.OrStmt:
			r.isolate(func() { r.stmt(c.X) })
			r.invalidate(c.X)
			r.conditional(c.Y, func() { r.stmt(c.Y) })
		default:
			r.isolate(func() { r.stmt(c.X) })
			r.isolate(func() { r.stmt(c.Y) })
			r.invalidate(c.Y) // some shells run the last command of a pipeline themselves
		}
	case *syntax.Block:
		r.statements(c.Stmts)
	case *syntax.Subshell:
		r.isolate(func() { r.statements(c.Stmts) })
	default:
		r.conditional(c, func() { r.followNested(c) })
	}
}

// chain follows a && b && c. Each runs only if those before it succeeded, so the effects of all but
// the first are known in the chain but not after it.
func (r *pathTracer) chain(c *syntax.BinaryCmd) {
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
		r.invalidate(s)
	}
}

// followNested follows the statements within a node that is not a statement, in unknown order.
func (r *pathTracer) followNested(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok {
			r.isolate(func() { r.stmt(s) })
			return false
		}
		return true
	})
}

func (r *pathTracer) call(c *syntax.CallExpr) {
	for _, w := range c.Args {
		r.followNested(w)
	}
	for _, a := range c.Assigns {
		if a.Value != nil {
			r.followNested(a.Value)
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
	if r.ran != nil && r.cwd.real != "" && !slices.Contains(args, "") {
		r.ran(r.cwd.real, args[0], args[1:])
	}
}

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
	dir := resolveWord(args[0], was.name)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return // it will fail, or the command creates the folder
	}
	r.cwd = location{dir, workspace.RealPath(dir)}
}

func (r *pathTracer) addPath(word string, write bool) {
	if word == "" || r.cwd.name == "" && !filepath.IsAbs(word) && !strings.HasPrefix(word, "~") {
		return
	}
	dir := r.cwd.real
	if r.cwd.name == r.startDir {
		dir = r.startDir
	}
	r.add(resolveWord(word, dir), write)
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
