package shell

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (a *analysis) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		a.stmt(s)
	}
}

func (a *analysis) stmt(s *syntax.Stmt) {
	if s == nil {
		return
	}
	if len(a.facts.Commands) > maxCommands {
		a.addFinding("", "contains too many commands to be checked")
		return
	}
	if s.Background {
		a.facts.Findings = append(a.facts.Findings, Finding{Text: a.text(s), Reason: "continues in the background", Soft: true})
	}
	if s.Coprocess || s.Disown {
		a.addFinding(a.text(s), "continues on its own")
	}
	t := tracer{a}
	before := a.trace
	before.values = maps.Clone(before.values)
	_, simple := s.Cmd.(*syntax.CallExpr)
	own := -1
	if simple {
		own = len(a.facts.Commands)
	}
	a.inScope(func(c *scope) {
		for _, r := range s.Redirs {
			if w := a.redirects.input(r); w != nil {
				c.stdin = w
			}
		}
	}, func() {
		if s.Cmd != nil && (s.Background || s.Negated) {
			t.conditional(s.Cmd, func() { a.command(s) })
		} else {
			a.command(s)
		}
	})
	if own >= len(a.facts.Commands) {
		own = -1
	}
	after := a.trace
	a.trace = before // a redirect is opened before its command runs
	for _, r := range s.Redirs {
		a.redirects.redirect(r, own)
	}
	a.trace = after
}

func (a *analysis) command(s *syntax.Stmt) {
	t := tracer{a}
	switch c := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		a.redirects.descriptors(c, s.Redirs)
		a.call(c, len(s.Redirs) > 0)
	case *syntax.BinaryCmd:
		a.binary(c)
	case *syntax.Block:
		a.stmts(c.Stmts)
	case *syntax.Subshell:
		t.isolate(func() { a.stmts(c.Stmts) })
	case *syntax.IfClause:
		t.conditional(c, func() {
			for ; c != nil; c = c.Else {
				t.isolate(func() { a.stmts(c.Cond) })
				t.isolate(func() { a.stmts(c.Then) })
			}
		})
	case *syntax.WhileClause:
		t.conditional(c, func() {
			a.inScope(func(sc *scope) { sc.loop = true }, func() { a.stmts(c.Cond); a.stmts(c.Do) })
		})
	case *syntax.ForClause:
		t.conditional(c, func() { a.loopOver(c) })
	case *syntax.CaseClause:
		a.eval.substitutions(c.Word)
		t.conditional(c, func() {
			for _, it := range c.Items {
				for _, p := range it.Patterns {
					a.eval.substitutions(p)
				}
				t.isolate(func() { a.stmts(it.Stmts) })
			}
		})
	case *syntax.TimeClause:
		if nested, ok := nestedTimeClause(c); ok && nested.Stmt == nil {
			a.addFinding(firstLine(a.text(c)), "times the program time, which shells read differently")
		}
		if c.Stmt != nil && strings.HasPrefix(a.text(c.Stmt), "-") { // an option, or a program
			a.addFinding(firstLine(a.text(c)), "gives time an option, which shells read differently")
		}
		a.stmt(c.Stmt)
	case *syntax.DeclClause:
		a.declare(c)
	case *syntax.FuncDecl:
		a.addFinding(firstLine(a.text(c)), "defines a function")
		t.conditional(c, func() {
			a.inScope(func(sc *scope) { sc.origin, sc.loop = "function", true }, func() { a.stmt(c.Body) })
		})
	case *syntax.CoprocClause:
		a.addFinding(firstLine(a.text(c)), "starts a coprocess")
		t.conditional(c, func() { a.stmt(c.Stmt) })
	default: // ArithmCmd, TestClause, LetClause, TestDecl, and node types of later parsers
		a.addFinding(firstLine(a.text(s.Cmd)), "is evaluated by the shell itself")
		a.eval.analyzeEvaluated(s.Cmd)
	}
}

// binary handles two statements with an operator between them.
func (a *analysis) binary(c *syntax.BinaryCmd) {
	t := tracer{a}
	switch c.Op {
	case syntax.AndStmt:
		t.chain(c)
	case syntax.OrStmt:
		t.isolate(func() { a.stmt(c.X) })
		t.invalidate(c.X)
		t.conditional(c.Y, func() { a.stmt(c.Y) })
	default: // a pipe
		if _, timed := c.Y.Cmd.(*syntax.TimeClause); timed {
			a.addFinding(a.text(c.Y), "times a part of a pipe, which shells read differently")
		}
		t.isolate(func() { a.stmt(c.X) })
		output := a.guesser.echoOutput(c.X)
		t.isolate(func() {
			a.inScope(func(sc *scope) { sc.piped, sc.stdin = true, output }, func() { a.stmt(c.Y) })
		})
		t.invalidate(c.Y) // some shells run the last command of a pipe themselves
	}
}

// nestedTimeClause returns the time clause that a time clause measures.
func nestedTimeClause(c *syntax.TimeClause) (nested *syntax.TimeClause, ok bool) {
	if c.Stmt != nil {
		nested, ok = c.Stmt.Cmd.(*syntax.TimeClause)
	}
	return nested, ok
}

func (a *analysis) loopOver(c *syntax.ForClause) {
	if c.Select {
		a.addFinding(firstLine(a.text(c)), "asks for a choice")
	}
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		var items []Word
		for _, w := range l.Items {
			a.eval.substitutions(w)
			items = a.words(items, w)
		}
		a.setNumber(l.Name.Value, len(items) > 0 && !slices.ContainsFunc(items, func(w Word) bool { return w.Dynamic || !number.MatchString(w.Text) }))
		a.facts.Texts = append(a.facts.Texts, items...)
		value := Word{Dynamic: true}
		if len(l.Items) == 1 {
			value = a.word(l.Items[0])
		}
		// a single letter is no setting of a shell
		if n := l.Name.Value; !(len(n) == 1 && n[0] >= 'a' && n[0] <= 'z') {
			a.facts.Assigns = append(a.facts.Assigns, Assign{Name: n, Value: value, Text: "for " + n, Guess: a.guess, Local: true})
		} else if value.Plain() {
			a.vars[n] = value.Text
		}
	default:
		a.addFinding(firstLine(a.text(c)), "is evaluated by the shell itself")
		a.eval.analyzeEvaluated(c.Loop)
	}
	a.inScope(func(sc *scope) { sc.loop = true }, func() { a.stmts(c.Do) })
}

// call records a simple command, the substitutions in its words, and the commands that it starts.
func (a *analysis) call(c *syntax.CallExpr, redirected bool) {
	for _, s := range c.Assigns {
		a.assign(s)
		a.facts.Assigns[len(a.facts.Assigns)-1].Local = len(c.Args) == 0
		tracer{a}.assign(s, len(c.Args) == 0)
	}
	if len(c.Args) == 0 {
		return
	}
	list := make([]Word, 0, len(c.Args))
	dynamic := false
	for _, w := range c.Args {
		from := len(list)
		list = a.words(list, w)
		for _, d := range list[from:] {
			dynamic = dynamic || d.Dynamic
		}
	}
	if len(list) == 0 {
		return
	}
	text := a.text(c)
	if n := len(c.Assigns); n > 0 {
		if from, to := int(c.Args[0].Pos().Offset()), int(c.End().Offset()); from < to && to <= len(a.src) {
			text = a.src[from:to]
		}
	}
	if a.kind == Zsh && !a.guess && zshWords[list[0].Text] {
		a.addFinding(text, "starts with a word that zsh reads differently")
	}
	if a.kind == Zsh {
		a.zshAssignments(c, list, text)
	}
	if redirected && list[0].Text == "exec" {
		a.addFinding(text, "redirects the shell's own input or output")
	}
	from, to := a.place(c.Args[0], c)
	a.run(Command{Words: list, Text: text, From: from, To: to, Parent: a.parent, Via: a.via}, 0)
	if dynamic {
		if guess := a.guesser.guessWords(c.Args); len(guess) > 0 {
			a.asGuess(func() { a.run(Command{Words: guess, Text: text, Parent: a.parent, Via: a.via}, 0) })
		}
	}
	for _, w := range c.Args {
		a.eval.substitutions(w)
	}
	tracer{a}.changeFolder(list)
}

// zshAssignment matches words that are assignments in zsh and a program for the parser: zsh assigns
// to numbers, and to names with letters of every script.
var zshAssignment = regexp.MustCompile(`^[^=/'"\\$` + "`" + `]+=`)

// zshAssignments handles words that are assignments in zsh and the program for the parser.
func (a *analysis) zshAssignments(c *syntax.CallExpr, list []Word, text string) {
	n := 0
	for n < len(c.Args) && zshAssignment.MatchString(a.text(c.Args[n])) {
		n++
	}
	if n == 0 {
		return
	}
	a.addFinding(text, "begins with a word that zsh may read as an assignment")
	if n = min(n, len(list)); n < len(list) {
		a.asGuess(func() { a.run(Command{Words: list[n:], Text: text, Parent: a.parent, Via: a.via}, 0) })
	}
}

// zshWords start a compound command or modify it in zsh; the parser reads them as programs.
var zshWords = map[string]bool{"repeat": true, "foreach": true, "end": true, "always": true, "nocorrect": true, "-": true}

// run records a command and those that it starts.
func (a *analysis) run(c Command, level int) {
	c.Origin, c.Loop, c.Piped, c.Stdin, c.Guess, c.Folder = a.origin, a.loop, a.piped, a.stdin, a.guess, a.trace.folder
	if level > maxDepth || len(a.facts.Commands) > maxCommands {
		a.addFinding(c.Text, "is nested too deeply to be checked")
		return
	}
	if c.Words[0].Glob {
		a.addFinding(c.Text, "names its program with a wildcard")
	}
	at := len(a.facts.Commands)
	a.facts.Commands = append(a.facts.Commands, c)
	a.addStarted(c, at, level+1)
}

func firstLine(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return s[:i] + " …"
	}
	return s
}
