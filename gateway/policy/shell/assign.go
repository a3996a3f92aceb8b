package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (a *analysis) assign(s *syntax.Assign) {
	r := Assign{Text: a.text(s), Guess: a.guess}
	if s.Name != nil {
		r.Name = s.Name.Value
	}
	if s.Name != nil && !isName(s.Name.Value) { // the shell reads foo-n=x[a] as a program's name
		a.addFinding(r.Text, "contains an assignment that shells read differently")
	}
	switch {
	case s.Array != nil || s.Index != nil:
		r.Value = Word{Text: r.Text, Dynamic: true}
		a.setNumber(r.Name, false)
		a.evaluated(s)
	case s.Value != nil:
		a.setNumber(r.Name, a.isNumber(s.Value))
		r.Value = a.word(s.Value)
		a.substitutions(s.Value)
		if r.Value.Plain() {
			a.vars[r.Name] = r.Value.Text
		} else {
			a.vars[r.Name] = strings.Join(a.guessWord(s.Value), " ")
		}
	}
	a.facts.Assigns = append(a.facts.Assigns, r)
}

// declare handles export, declare and similar. An export of plain values is only an assignment.
func (a *analysis) declare(c *syntax.DeclClause) {
	plain := c.Variant.Value == "export"
	for _, s := range c.Args {
		plain = plain && !s.Naked && s.Name != nil && s.Array == nil && s.Index == nil
		a.assign(s)
	}
	if !plain || len(c.Args) == 0 {
		a.addFinding(firstLine(a.text(c)), "changes the shell's variables")
		a.evaluated(c)
	}
}
