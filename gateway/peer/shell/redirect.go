package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirects analyzes the redirects of commands.
type redirects struct{ analysis *analysis }

// input returns the input that a redirect gives to its command: the text of a here-document, or a
// dynamic word for a file.
func (a redirects) input(r *syntax.Redirect) *Word {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc == nil {
			return &Word{}
		}
		w, quoted := Word{}, isQuoted(r.Word)
		for _, p := range r.Hdoc.Parts {
			l, ok := p.(*syntax.Lit)
			switch {
			case !ok:
				w.Dynamic = true
				w.Text += a.analysis.text(p)
			case quoted:
				w.Text += l.Value
			default:
				w.Text += unescape(l.Value, "$`\\")
			}
		}
		return &w
	case syntax.WordHdoc:
		w := a.analysis.word(r.Word)
		w.Glob, w.Tilde = false, false
		return &w
	case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn:
		if w := a.analysis.word(r.Word); (r.N == nil || r.N.Value == "0") && w.Text != "/dev/null" && w.Text != "-" {
			return &Word{Dynamic: true}
		}
	}
	return nil
}

func isQuoted(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.Contains(p.Value, `\`) {
				return true
			}
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		}
	}
	return false
}

func (a redirects) redirect(r *syntax.Redirect, own int) {
	switch {
	case r.N == nil:
	case strings.HasPrefix(r.N.Value, "{"):
		a.analysis.addFinding(a.analysis.text(r), "keeps a file open for later commands")
	case len(r.N.Value) > 1: // dash and zsh read 12>x as the argument 12 and >x
		a.analysis.addFinding(firstLine(a.analysis.text(r)), "contains a descriptor that shells read differently")
	}
	if r.Hdoc != nil && !isQuoted(r.Word) {
		a.analysis.inScope(func(s *scope) { s.origin = "here-document" }, func() { a.analysis.eval.substitutions(r.Hdoc) })
		if in := a.input(r); in.Dynamic {
			a.analysis.addFinding(firstLine(a.analysis.text(r)), "contains a here-document with variables or commands")
		}
	}
	text := a.analysis.text(r)
	if r.Word != nil {
		a.analysis.eval.substitutions(r.Word)
		if from, to := int(r.Pos().Offset()), int(r.Word.End().Offset()); from < to && to <= len(a.analysis.src) {
			text = a.analysis.src[from:to] // without the here-document's body
		}
	}
	d := Redirect{Text: text, Command: own, Loop: a.analysis.loop, Guess: a.analysis.guess, Folder: a.analysis.trace.folder}
	if r.Word != nil {
		d.From, d.To = a.analysis.place(r, r.Word)
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		// The shell reads <<'X'# as the delimiter X#, the parser as the delimiter X and a comment.
		if to := int(r.Word.End().Offset()); to < len(a.analysis.src) && strings.IndexByte(blanks+operators, a.analysis.src[to]) < 0 {
			a.analysis.addFinding(text, "contains a here-document whose end shells read differently")
		}
		return
	case syntax.WordHdoc:
		w := a.analysis.word(r.Word)
		a.analysis.facts.Texts = append(a.analysis.facts.Texts, w)
		if w.Dynamic || w.Ambiguous {
			a.analysis.addFinding(text, "reads a text with variables or commands")
		}
		return
	case syntax.RdrIn:
	case syntax.DplIn, syntax.DplOut:
		if a.duplicates(r.Word, text) {
			return
		}
		d.Write = r.Op == syntax.DplOut
	default: // >, >>, >|, <>, &>, &>> and zsh's own
		d.Write = true
	}
	list := a.analysis.words(nil, r.Word)
	for _, w := range list {
		if len(list) > 1 || w.Glob {
			w.Ambiguous = true // one shell reports an error, another opens all of them
		}
		d.Path = w
		a.analysis.facts.Redirects = append(a.analysis.facts.Redirects, d)
	}
}

// duplicates reports whether the target of >& or <& is an open descriptor, and doubtful ones.
func (a redirects) duplicates(w *syntax.Word, redirect string) bool {
	target := a.analysis.text(w)
	switch {
	case target == "-" || len(target) == 1 && isDigits(target):
		return true
	// Bash closes the descriptor for <&-x and reads x as a word. Only zsh opens a file for >&1-.
	case strings.HasPrefix(target, "-") || isDigits(strings.TrimSuffix(target, "-")):
		a.analysis.addFinding(redirect, "contains a descriptor that shells read differently")
	case !ordinary.MatchString(target): // bash runs the quoted substitution in >&'$(x)'
		a.analysis.addFinding(redirect, "contains a file name that the shell expands twice")
		a.analysis.eval.evaluatedText(a.analysis.word(w).Text)
	}
	return false
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// descriptor matches a word that some shell reads as a part of the directly following redirect, and
// the parser as an argument: {fds[0]}>x in bash, 1&>x in zsh.
var descriptor = regexp.MustCompile(`^(\d+|\{\w+(\[.*\])?\})$`)

// descriptors reports such words.
func (a redirects) descriptors(c *syntax.CallExpr, list []*syntax.Redirect) {
	for _, w := range c.Args {
		if text := a.analysis.text(w); descriptor.MatchString(text) && slices.ContainsFunc(list, func(r *syntax.Redirect) bool { return r.Pos() == w.End() }) {
			a.analysis.addFinding(text, "contains a descriptor that shells read differently")
		}
	}
}
