package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// substitutions analyzes the commands that run while a word is expanded.
func (a *analysis) substitutions(n syntax.Node) {
	if w, ok := n.(*syntax.Word); ok && (w == nil || literal(w)) {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			a.inScope(func(s *scope) { s.origin, s.stdin, s.piped = "substitution", nil, false }, func() { a.stmts(n.Stmts) })
			return false
		case *syntax.ProcSubst:
			a.inScope(func(s *scope) { s.origin, s.stdin, s.piped = "substitution", nil, true }, func() { a.stmts(n.Stmts) })
			return false
		case *syntax.ArithmExp:
			a.arithmetic(n.X)
		case *syntax.ParamExp:
			a.parameter(n)
			if n.Exp != nil && n.Exp.Op == syntax.AssignUnset || n.Exp != nil && n.Exp.Op == syntax.AssignUnsetOrNull {
				name := ""
				if n.Param != nil {
					name = n.Param.Value
				}
				a.setNumber(name, false)
				a.facts.Assigns = append(a.facts.Assigns, Assign{Name: name, Value: Word{Dynamic: true}, Text: a.text(n), Guess: a.guess})
			}
		}
		return true
	})
}

func literal(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
		default:
			return false
		}
	}
	return true
}

// evaluated analyzes parts that the shell evaluates as arithmetic or as a condition: even a quoted
// text in it may run commands.
func (a *analysis) evaluated(n syntax.Node) {
	a.substitutions(n)
	syntax.Walk(n, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.Word); ok && w != nil {
			a.evaluatedText(a.word(w).Text)
		}
		return true
	})
}

// evaluatedText analyzes a text whose substitutions the shell runs although it was quoted.
func (a *analysis) evaluatedText(text string) {
	if !strings.Contains(text, "$(") && !strings.Contains(text, "`") || a.depth >= maxDepth {
		return
	}
	if !a.reserveWork(text) {
		a.addFinding("", "is nested too deeply to be checked")
		return
	}
	w, err := syntax.NewParser(syntax.Variant(variants[a.kind])).Document(strings.NewReader(text))
	if err != nil {
		a.addFinding(text, "is not valid for this shell")
		return
	}
	src := a.src
	a.src = text
	a.depth++
	a.substitutions(w)
	a.depth--
	a.src = src
}
