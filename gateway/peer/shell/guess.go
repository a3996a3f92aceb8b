package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// guesser guesses the expansion of words.
type guesser struct{ analysis *analysis }

// guessWords returns the most likely expansion of a command with dynamic words: variables that the
// text itself sets have that value, others are empty, $IFS is a space, and $(echo x) is x. It
// serves to deny hidden commands, never to allow.
func (a guesser) guessWords(args []*syntax.Word) []Word {
	var list []Word
	for _, w := range args {
		for _, s := range a.guessWord(w) {
			list = append(list, Word{Text: s, Ambiguous: true})
		}
	}
	return list
}

func (a guesser) guessWord(w *syntax.Word) []string {
	var b strings.Builder
	quotedText := false
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.DblQuoted:
			quotedText = quotedText || !mayBeEmpty(p)
			for _, q := range p.Parts {
				b.WriteString(strings.ReplaceAll(a.guessPart(q), " ", "\x00"))
			}
		case *syntax.SglQuoted, *syntax.Lit:
			var d Word
			var t strings.Builder
			a.analysis.part(&d, &t, p, false, false)
			b.WriteString(strings.ReplaceAll(t.String(), " ", "\x00"))
		default:
			b.WriteString(a.guessPart(p))
		}
	}
	list := strings.Fields(b.String())
	for i := range list {
		list[i] = strings.ReplaceAll(list[i], "\x00", " ")
	}
	if len(list) == 0 && quotedText {
		return []string{""}
	}
	return list
}

// mayBeEmpty reports whether a quoted text expands to no word if a list is empty: "$@", "${x[@]}".
func mayBeEmpty(q *syntax.DblQuoted) bool {
	if len(q.Parts) != 1 {
		return false
	}
	p, ok := q.Parts[0].(*syntax.ParamExp)
	if !ok || p.Param == nil {
		return false
	}
	index, _ := p.Index.(*syntax.Word)
	return p.Param.Value == "@" || index != nil && index.Lit() == "@"
}

// usualValues are the values of variables that a text need not set; IFS always separates words.
var usualValues = map[string]string{"IFS": " ", "PWD": ".", "HOME": "~"}

func (a guesser) guessPart(p syntax.WordPart) string {
	switch p := p.(type) {
	case *syntax.Lit:
		return unescape(p.Value, "$`\"\\")
	case *syntax.ParamExp:
		if p.Param == nil {
			return ""
		}
		name := p.Param.Value
		v, set := a.analysis.vars[name]
		if usual := usualValues[name]; usual != "" && (!set || name == "IFS") {
			return usual
		}
		if !set && p.Exp != nil && p.Exp.Word != nil {
			return strings.Join(a.guessWord(p.Exp.Word), " ")
		}
		return v
	case *syntax.CmdSubst:
		if len(p.Stmts) == 1 {
			if a.analysis.text(p.Stmts[0]) == "pwd" {
				return "."
			}
			if w := a.echoOutput(p.Stmts[0]); w != nil {
				return w.Text
			}
		}
	case *syntax.DblQuoted:
		var b strings.Builder
		for _, q := range p.Parts {
			b.WriteString(a.guessPart(q))
		}
		return b.String()
	}
	return ""
}

// echoOutput returns the output of echo or printf with plain words, nil for everything else.
func (a guesser) echoOutput(s *syntax.Stmt) *Word {
	if s == nil || len(s.Redirs) > 0 {
		return nil
	}
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) < 2 {
		return nil
	}
	name := a.analysis.word(c.Args[0]).Text
	if name != "echo" && name != "printf" {
		return nil
	}
	var list []string
	for _, w := range c.Args[1:] {
		d := a.analysis.word(w)
		if d.Dynamic {
			return nil
		}
		if strings.HasPrefix(d.Text, "-") && len(list) == 0 {
			continue
		}
		list = append(list, d.Text)
	}
	text := strings.Join(list, " ")
	if name == "printf" && len(list) > 1 && strings.Contains(list[0], "%") {
		text = strings.Join(list[1:], " ")
	}
	return &Word{Text: strings.ReplaceAll(text, `\n`, "\n")}
}
