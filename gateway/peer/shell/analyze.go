package shell

import (
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxDepth    = 10  // of nested texts: sh -c "sh -c …"
	maxCommands = 600 // in one call
	// characters that are parsed for one call; nested texts and pieces are parsed again
	maxWork = 8 * maxText
)

var variants = map[Kind]syntax.LangVariant{Bash: syntax.LangBash, POSIX: syntax.LangPOSIX, Zsh: syntax.LangZsh}

// ParseKind returns the kind for a shell's name or path; ok is false if it cannot be analyzed.
func ParseKind(name string) (k Kind, ok bool) {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	switch strings.TrimSuffix(strings.ToLower(name), ".exe") {
	case "", "bash":
		return Bash, true
	case "sh", "dash", "ash", "posix":
		return POSIX, true
	case "zsh":
		return Zsh, true
	}
	return "", false
}

// Analyze parses a text as shell k would. It never fails: an unreadable part becomes a [Finding].
// The lines before it are still analyzed, because a shell runs them before it meets the error.
func Analyze(text string, k Kind) Facts {
	f := readAs(text, k)
	f.addFolders()
	return f
}

// readAs reads a text for shell k, and as bash if that reads it differently.
func readAs(text string, k Kind) (f Facts) {
	// the parser is an external library: a text that makes it panic asks instead of crashing
	defer func() {
		if broken := recover(); broken != nil {
			f.Kind, f.Invalid = k, true
			f.Findings = append(f.Findings, Finding{Reason: "is not valid for this shell"})
		}
	}()
	f = analyze(text, k)
	if len(text) > maxText {
		return f
	}
	// /bin/sh may be bash, and the parser is new to zsh: different readings are uncertain
	if k != Bash {
		g := analyze(text, Bash)
		if !f.equal(g) {
			f.Findings = append(f.Findings, Finding{Reason: "means different things to different shells"})
			f.addGuesses(g)
		}
	}
	return f
}

// analysis is the state of the analysis of one text.
type analysis struct {
	kind  Kind
	src   string
	facts Facts
	vars  map[string]string // the variables that the text itself sets, for guesses

	numbers             map[string]bool // variables that the text sets, and whether only to numbers
	arithmeticVariables []arithmeticVariable

	trace trace // at the place that is being read

	depth int
	work  int // number of characters parsed so far
	guess bool
	scope

	eval      evaluator
	guesser   guesser
	redirects redirects
}

// scope is the state for a part of the text.
type scope struct {
	origin string
	loop   bool
	piped  bool
	stdin  *Word
	parent int
	via    string
}

func analyze(text string, k Kind) Facts {
	a := &analysis{kind: k, vars: map[string]string{}, numbers: map[string]bool{}, trace: trace{values: map[string]string{}}, scope: scope{parent: -1}}
	a.eval, a.guesser, a.redirects = evaluator{a}, guesser{a}, redirects{a}
	a.facts.Kind = k
	if len(text) > maxRead {
		text = text[:maxRead]
	}
	a.script(text, k)
	a.eval.checkArithmetic()
	return a.facts
}

// script analyzes a whole text in the current scope.
func (a *analysis) script(text string, k Kind) {
	brackets := strings.Count(text, "(") + strings.Count(text, "{") + strings.Count(text, "`")
	if a.depth >= maxDepth || len(a.facts.Commands) > maxCommands || brackets > maxNesting || !a.reserveWork(text) {
		a.addFinding("", "is nested too deeply to be checked")
		return
	}
	a.depth++
	src, kind := a.src, a.kind
	a.src, a.kind = text, k
	defer func() { a.depth--; a.src, a.kind = src, kind }()
	for _, f := range hiddenText(text) {
		a.addFinding(f.Text, f.Reason)
	}
	if k == Zsh && strings.Contains(text, "$${") {
		a.addFinding("", "contains $${, which zsh reads differently")
	}
	stmts, err := parse(text, k)
	tracer{a}.isolate(func() {
		tracer{a}.scan(stmts)
		a.stmts(stmts)
	})
	if len(text) <= maxText {
		a.asGuess(func() { a.otherReadings(text, k) })
	}
	if err == nil {
		return
	}
	a.facts.Invalid = a.facts.Invalid || !a.guess
	a.addFinding("", "is not valid for this shell ("+reason(err)+")")
	a.asGuess(func() { a.validParts(text, k) })
}

// otherReadings analyzes a text in the way the shell may read it if the parser differs.
func (a *analysis) otherReadings(text string, k Kind) {
	for _, other := range readings(text) {
		if a.reserveWork(other) {
			stmts, err := parse(other, k)
			a.src = other
			a.stmts(stmts)
			if err != nil {
				a.validParts(other, k)
			}
		}
	}
	a.src = text
}

// validParts analyzes the lines, and their parts between operators, that may run despite an error.
func (a *analysis) validParts(text string, k Kind) {
	lines := strings.Split(text, "\n")
	if len(lines) >= 200 || len(text) >= maxText/2 {
		return
	}
	for _, line := range lines {
		for _, piece := range append([]string{line}, strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(";&|", r) })...) {
			if !a.reserveWork(piece) {
				break
			}
			if stmts, err := parse(piece, k); err == nil {
				a.src = piece
				a.stmts(stmts)
			}
		}
	}
}

// reserveWork reports whether a text may still be parsed.
func (a *analysis) reserveWork(text string) bool {
	a.work += len(text) + 32
	return a.work <= maxWork
}

func reason(err error) string {
	if p, ok := errors.AsType[syntax.ParseError](err); ok {
		return p.Text
	}
	if l, ok := errors.AsType[syntax.LangError](err); ok {
		return l.Feature
	}
	return err.Error()
}

// parse returns the statements before an error.
func parse(text string, k Kind) (list []*syntax.Stmt, err error) {
	for s, e := range syntax.NewParser(syntax.Variant(variants[k])).StmtsSeq(strings.NewReader(text)) {
		// no return: v3.14.1 may continue after an error, and must not call an ended loop body
		switch {
		case err != nil:
		case e != nil:
			err = e
		case s != nil:
			list = append(list, s)
		}
	}
	return list, err
}

func (a *analysis) addFinding(text, why string) {
	f := Finding{Text: text, Reason: why}
	if !slices.Contains(a.facts.Findings, f) {
		a.facts.Findings = append(a.facts.Findings, f)
	}
}

// text returns the source of a node.
func (a *analysis) text(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if !n.Pos().IsValid() || !n.End().IsValid() || from > to || to > len(a.src) {
		return ""
	}
	return a.src[from:to]
}

// place returns where the text from the start of one node to the end of another is in the whole
// text; to is 0 for a part of a nested text and for a guess.
func (a *analysis) place(first, last syntax.Node) (from, to int) {
	if a.depth != 1 || a.guess {
		return 0, 0
	}
	from, to = int(first.Pos().Offset()), int(last.End().Offset())
	if from >= to || to > len(a.src) {
		return 0, 0
	}
	return from, to
}

// asGuess runs f, whose commands are marked as guesses.
func (a *analysis) asGuess(f func()) {
	was := a.guess
	a.guess = true
	tracer{a}.isolate(f)
	a.guess = was
}

// inScope runs f in a changed scope.
func (a *analysis) inScope(change func(*scope), f func()) {
	was := a.scope
	change(&a.scope)
	f()
	a.scope = was
}
