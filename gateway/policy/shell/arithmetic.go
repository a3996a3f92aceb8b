package shell

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bash evaluates a variable's value if it expects a number: with x='a[$(id)]', $((x)) runs id. So a
// variable in an expression is safe only if the text itself sets it to nothing but numbers.

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
func (a *analysis) isNumber(w *syntax.Word) bool {
	if len(w.Parts) == 1 {
		switch p := w.Parts[0].(type) {
		case *syntax.ArithmExp:
			return true
		case *syntax.ParamExp:
			return p.Length
		}
	}
	d := a.word(w)
	return d.Plain() && number.MatchString(d.Text)
}

// parameter finds expansions that evaluate a variable's value, instead of only inserting it.
func (a *analysis) parameter(p *syntax.ParamExp) {
	all := false // of the elements of an array
	if w, ok := p.Index.(*syntax.Word); ok {
		all = w.Lit() == "@" || w.Lit() == "*"
	}
	switch {
	case p.Excl && p.Names == 0 && !all,
		p.Exp != nil && p.Exp.Op == syntax.OtherParamOps && strings.Trim(a.text(p.Exp.Word), "QEAaUuLKk") != "",
		p.Flags != nil && strings.Contains(p.Flags.Value, "e"):
		a.addFinding(a.text(p), "evaluates the value of a variable")
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
func (a *analysis) arithmetic(x syntax.ArithmExpr) {
	if x == nil {
		return
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			if isName(n.Value) {
				a.arithmeticVariables = append(a.arithmeticVariables, arithmeticVariable{n.Value, a.text(x)})
			} else if !digits.MatchString(n.Value) {
				a.addFinding(a.text(x), unknownArithmetic)
			}
		case *syntax.ParamExp:
			switch {
			case plainParameter(n):
				a.arithmeticVariables = append(a.arithmeticVariables, arithmeticVariable{n.Param.Value, a.text(x)})
			case !n.Length:
				a.addFinding(a.text(x), unknownArithmetic)
			}
			return n.Index != nil && !n.Length
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.SglQuoted, *syntax.ExtGlob:
			a.addFinding(a.text(x), unknownArithmetic)
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
func (a *analysis) checkArithmetic() {
	for _, c := range a.arithmeticVariables {
		isNumber, known := a.numbers[c.name]
		if !isNumber && (known || !alwaysNumbers[c.name]) {
			a.addFinding(c.text, unknownArithmetic)
		}
	}
}
