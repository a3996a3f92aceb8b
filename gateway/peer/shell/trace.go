package shell

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// trace is the folder and the variables of a text at one place in it.
type trace struct {
	folder Folder
	values map[string]string // the paths that variables certainly have as their values
	unsure bool              // the text may change the meaning of cd and variables
	moves  bool              // the text may change where mktemp makes files, or what it is
	sets   map[string]int    // how often the text sets each variable
}

// tracer follows a text in its order of execution. What depends on the outcome of a command, or on
// more than the text, is unknown.
type tracer struct{ a *analysis }

// opaqueCommands are commands after which the text alone does not determine the effect of cd and
// variables.
var opaqueCommands = map[string]bool{
	"eval": true, "source": true, ".": true, "alias": true, "trap": true, "enable": true, "builtin": true, "command": true, "pushd": true, "popd": true,
	"read": true, "mapfile": true, "readarray": true, "unset": true, "getopts": true, "let": true, "exec": true, "shopt": true, "set": true, "hash": true,
	"export": true, "readonly": true, "local": true, "declare": true, "typeset": true,
}

// scan looks for what makes cd and variables uncertain anywhere in a text.
func (t tracer) scan(list []*syntax.Stmt) {
	unsure := &t.a.trace.unsure
	if t.a.depth == 1 {
		t.a.trace.sets = map[string]int{}
	}
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.FuncDecl, *syntax.DeclClause, *syntax.LetClause, *syntax.ArithmCmd, *syntax.ArithmExp, *syntax.CStyleLoop, *syntax.CoprocClause:
				*unsure = true
			case *syntax.ParamExp:
				*unsure = *unsure || n.Exp != nil || n.Index != nil // ${X:=value} sets it
			case *syntax.Assign:
				*unsure = *unsure || n.Name == nil || n.Index != nil || n.Array != nil || n.Append || n.Name.Value == "IFS" || n.Name.Value == "CDPATH"
				if n.Name != nil {
					t.a.trace.moves = t.a.trace.moves || n.Name.Value == "TMPDIR" || n.Name.Value == "PATH"
					t.a.trace.sets[n.Name.Value]++
				}
			case *syntax.WordIter:
				t.a.trace.sets[n.Name.Value]++
			case *syntax.CallExpr:
				if len(n.Args) > 0 {
					name := t.a.word(n.Args[0])
					*unsure = *unsure || name.Dynamic || opaqueCommands[BaseName(name.Text)] && !t.isTransparent(name.Text, n.Args[1:]) ||
						name.Text == "printf" && len(n.Args) > 1 && strings.HasPrefix(t.a.word(n.Args[1]).Text, "-v")
				}
			}
			return true
		})
	}
}

// isolate follows code that does not affect later code.
func (t tracer) isolate(follow func()) {
	was := t.a.trace
	t.a.trace.values = maps.Clone(was.values)
	follow()
	t.a.trace = was
}

// conditional follows code that may run once, repeatedly, or not at all: the values that it changes
// are unknown inside it and afterwards.
func (t tracer) conditional(n syntax.Node, follow func()) {
	t.invalidate(n)
	t.isolate(follow)
}

// invalidate marks what the commands of n may change as unknown.
func (t tracer) invalidate(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				delete(t.a.trace.values, n.Name.Value)
			}
		case *syntax.WordIter:
			delete(t.a.trace.values, n.Name.Value)
		case *syntax.CallExpr:
			if len(n.Args) > 0 && folderCommands[t.a.word(n.Args[0]).Text] {
				t.a.trace.folder = Folder{Unknown: true}
			}
		}
		return true
	})
}

// chain follows a && b && c. Each runs only if those before it succeeded, so the effects of all but
// the first are known in the chain but not after it.
func (t tracer) chain(c *syntax.BinaryCmd) {
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
		t.a.stmt(s)
	}
	for _, s := range links[:len(links)-1] {
		t.invalidate(s)
	}
}

// changeFolder follows a command that changes the folder.
func (t tracer) changeFolder(words []Word) {
	target, ok := folderTarget(words)
	if !ok || t.a.guess {
		return
	}
	was := t.a.trace.folder
	t.a.trace.folder = Folder{Unknown: true}
	// An option may change where a link leads, and HOME may be another folder.
	if target == nil || words[0].Text != "cd" || len(words) != 2 || t.a.trace.unsure || target.Glob || target.Ambiguous {
		return
	}
	switch to := target.Path(); {
	case to == "" || to[0] == '-':
	case to[0] == '/' || to[0] == '~':
		t.a.trace.folder = Folder{Steps: []string{to}}
	case !was.Unknown:
		t.a.trace.folder = Folder{Steps: append(slices.Clip(was.Steps), to)}
	}
}

// assign follows an assignment. alone means that no command follows it: before a command, it applies
// to that command only, except in some shells.
func (t tracer) assign(s *syntax.Assign, alone bool) {
	if s.Name == nil {
		return
	}
	value := ""
	if s.Value != nil {
		value = t.a.word(s.Value).Value()
	}
	delete(t.a.trace.values, s.Name.Value)
	if alone && t.isTemporary(s.Value) {
		value = Temporary
	}
	if alone && strings.HasPrefix(value, "/") && !strings.ContainsAny(value, " \t\n*?[") {
		t.a.trace.values[s.Name.Value] = value
	}
}

// expand returns the parts of a word with variables replaced by their values; empty if one is
// unknown.
func (t tracer) expand(parts []syntax.WordPart, isQuoted bool) string {
	var b strings.Builder
	for _, p := range parts {
		text := ""
		switch p := p.(type) {
		case *syntax.Lit:
			if text = p.Value; isQuoted {
				text = unescape(text, "$`\"\\")
			} else {
				text = strings.ReplaceAll(text, `\`, "")
			}
		case *syntax.SglQuoted:
			text = p.Value
		case *syntax.DblQuoted:
			text = t.expand(p.Parts, true)
		case *syntax.ParamExp:
			if plainParameter(p) && !p.Width && p.Index == nil && p.Names == 0 {
				text = t.a.trace.values[p.Param.Value]
			}
		}
		if text == "" || t.a.trace.unsure {
			return ""
		}
		b.WriteString(text)
	}
	return b.String()
}
