package shell

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bash evaluates a variable's value if it expects a number: with x='a[$(id)]', $((x)) runs id. So a
// variable in an expression is safe only if the text itself sets it to nothing but numbers.

// evaluator finds the code that the shell runs while it expands words or calculates.
type evaluator struct{ analysis *analysis }

// arithmeticVariable is a variable in an arithmetic expression, and the expression.
type arithmeticVariable struct{ name, text string }

const unknownArithmetic = "calculates with a value that may contain a command"

// alwaysNumbers are the parameters that the shell itself sets to numbers.
var alwaysNumbers = map[string]bool{
	"#": true, "?": true, "$": true, "!": true, "RANDOM": true, "SRANDOM": true, "SECONDS": true, "LINENO": true, "EPOCHSECONDS": true,
	"UID": true, "EUID": true, "PPID": true, "BASHPID": true,
}

var (
	// number matches a value that is a number if one is expected, or empty, which counts as 0.
	number = regexp.MustCompile(`^[-+]?[0-9]*$`)
	// digits matches a number in an expression, such as 0x1f or 2#101.
	digits = regexp.MustCompile(`^[0-9][0-9A-Za-z#]*$`)
)

// setNumber records whether a variable is set to a number. One other value outweighs all numbers.
func (a *analysis) setNumber(name string, isNumber bool) {
	was, known := a.numbers[name]
	a.numbers[name] = isNumber && (was || !known)
}

// isNumber reports whether a word can only expand to a number.
func (a evaluator) isNumber(w *syntax.Word) bool {
	if len(w.Parts) == 1 {
		switch p := w.Parts[0].(type) {
		case *syntax.ArithmExp:
			return true
		case *syntax.ParamExp:
			return p.Length
		}
	}
	d := a.analysis.word(w)
	return d.Plain() && number.MatchString(d.Text)
}

// parameter finds expansions that evaluate a variable's value, instead of only inserting it.
func (a evaluator) parameter(p *syntax.ParamExp) {
	all := false // of the elements of an array
	if w, ok := p.Index.(*syntax.Word); ok {
		all = w.Lit() == "@" || w.Lit() == "*"
	}
	switch {
	case p.Excl && p.Names == 0 && !all,
		p.Exp != nil && p.Exp.Op == syntax.OtherParamOps && strings.Trim(a.analysis.text(p.Exp.Word), "QEAaUuLKk") != "",
		p.Flags != nil && strings.Contains(p.Flags.Value, "e"):
		a.analysis.addFinding(a.analysis.text(p), "evaluates the value of a variable")
	}
	if p.Index != nil && !all {
		a.arithmetic(p.Index)
	}
	if p.Slice != nil {
		a.arithmetic(p.Slice.Offset)
		a.arithmetic(p.Slice.Length)
	}
}

// arithmetic collects the variables of an expression and reports unsafe parts.
func (a evaluator) arithmetic(x syntax.ArithmExpr) {
	if x == nil {
		return
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			if variableName.MatchString(n.Value) {
				a.analysis.arithmeticVariables = append(a.analysis.arithmeticVariables, arithmeticVariable{n.Value, a.analysis.text(x)})
			} else if !digits.MatchString(n.Value) {
				a.analysis.addFinding(a.analysis.text(x), unknownArithmetic)
			}
		case *syntax.ParamExp:
			switch {
			case plainParameter(n):
				a.analysis.arithmeticVariables = append(a.analysis.arithmeticVariables, arithmeticVariable{n.Param.Value, a.analysis.text(x)})
			case !n.Length:
				a.analysis.addFinding(a.analysis.text(x), unknownArithmetic)
			}
			return n.Index != nil && !n.Length
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.SglQuoted, *syntax.ExtGlob:
			a.analysis.addFinding(a.analysis.text(x), unknownArithmetic)
			return false
		}
		return true
	})
}

// plainParameter reports whether a parameter is only replaced by its value.
func plainParameter(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Length && !p.Excl && p.Exp == nil && p.Repl == nil && p.Slice == nil && p.Flags == nil
}

// checkArithmetic reports the variables in expressions that may have a value other than a number.
func (a evaluator) checkArithmetic() {
	for _, c := range a.analysis.arithmeticVariables {
		isNumber, known := a.analysis.numbers[c.name]
		if !isNumber && (known || !alwaysNumbers[c.name]) {
			a.analysis.addFinding(c.text, unknownArithmetic)
		}
	}
}

// substitutions analyzes the commands that run while a word is expanded.
func (a evaluator) substitutions(n syntax.Node) {
	if w, ok := n.(*syntax.Word); ok && w == nil {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			a.analysis.inScope(func(s *scope) { s.origin, s.stdin, s.piped = "substitution", nil, false }, func() { tracer{a.analysis}.isolate(func() { a.analysis.stmts(n.Stmts) }) })
			return false
		case *syntax.ProcSubst:
			a.analysis.inScope(func(s *scope) { s.origin, s.stdin, s.piped = "substitution", nil, true }, func() { tracer{a.analysis}.isolate(func() { a.analysis.stmts(n.Stmts) }) })
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
				a.analysis.setNumber(name, false)
				a.analysis.facts.Assigns = append(a.analysis.facts.Assigns, Assign{Name: name, Value: Word{Dynamic: true}, Text: a.analysis.text(n), Guess: a.analysis.guess})
			}
		}
		return true
	})
}

// analyzeEvaluated analyzes arithmetic and conditions: even a quoted text there may run commands.
func (a evaluator) analyzeEvaluated(n syntax.Node) {
	a.substitutions(n)
	syntax.Walk(n, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.Word); ok && w != nil {
			a.evaluatedText(a.analysis.word(w).Text)
		}
		return true
	})
}

// evaluatedText analyzes a text whose substitutions the shell runs although it was quoted.
func (a evaluator) evaluatedText(text string) {
	if !strings.Contains(text, "$(") && !strings.Contains(text, "`") || a.analysis.depth >= maxDepth {
		return
	}
	if !a.analysis.reserveWork(text) {
		a.analysis.addFinding("", "is nested too deeply to be checked")
		return
	}
	w, err := syntax.NewParser(syntax.Variant(variants[a.analysis.kind])).Document(strings.NewReader(text))
	if err != nil {
		a.analysis.addFinding(text, "is not valid for this shell")
		return
	}
	src := a.analysis.src
	a.analysis.src = text
	a.analysis.depth++
	a.substitutions(w)
	a.analysis.depth--
	a.analysis.src = src
}

func (a *analysis) assign(s *syntax.Assign) {
	r := Assign{Text: a.text(s), Guess: a.guess}
	if s.Name != nil {
		r.Name = s.Name.Value
	}
	if s.Name != nil && !variableName.MatchString(s.Name.Value) { // the shell reads foo-n=x[a] as a program's name
		a.addFinding(r.Text, "contains an assignment that shells read differently")
	}
	switch {
	case s.Array != nil || s.Index != nil:
		r.Value = Word{Text: r.Text, Dynamic: true}
		a.setNumber(r.Name, false)
		a.eval.analyzeEvaluated(s)
	case s.Value != nil:
		a.setNumber(r.Name, a.eval.isNumber(s.Value))
		r.Value = a.word(s.Value)
		a.eval.substitutions(s.Value)
		if r.Value.Plain() {
			a.vars[r.Name] = r.Value.Text
		} else {
			a.vars[r.Name] = strings.Join(a.guesser.guessWord(s.Value), " ")
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
		a.eval.analyzeEvaluated(c)
	}
}
