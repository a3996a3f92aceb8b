package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// maxBraces is the number of words that brace expansion of one word may produce.
const maxBraces = 128

// words decodes a word of a command's arguments, which brace expansion may turn into several.
func (a *analysis) words(list []Word, w *syntax.Word) []Word {
	text := a.text(w)
	if !bracesReadAlike(w) {
		a.addFinding(text, "contains braces that shells read differently")
	}
	cp := &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
	if !syntax.SplitBraces(cp) {
		return append(list, a.word(w))
	}
	from := len(list)
	for e, err := range expand.BracesSeq(nil, cp) {
		if err != nil || len(list)-from >= maxBraces {
			a.addFinding(text, "contains braces that expand to too many words")
			return append(list[:from], Word{Text: text, Dynamic: true})
		}
		d := a.word(e)
		if d.Dynamic {
			d.Text = text
		}
		if d.Text == "" && !isQuoted(e) { // bash removes an empty word: {,sudo} id runs sudo
			a.addFinding(text, "contains braces that expand to an empty word")
			continue
		}
		d.Ambiguous = d.Ambiguous || a.kind != Bash
		list = append(list, d)
	}
	return list
}

var (
	// mayExpand matches unquoted text in which some shell may expand braces.
	mayExpand = regexp.MustCompile(`(?s)\{.*(,|\.\.).*\}`)
	sequence  = regexp.MustCompile(`\{[^{},]*\.\.[^{},]*\}`)
	// oldSequence matches sequences without a step or leading zeros, which bash 3.2 expands alike.
	oldSequence = regexp.MustCompile(`^\{(-?(0|[1-9]\d*)\.\.-?(0|[1-9]\d*)|[a-z]\.\.[a-z]|[A-Z]\.\.[A-Z])\}$`)
)

// bracesReadAlike reports whether all shells expand the braces of a word, or none does.
func bracesReadAlike(w *syntax.Word) bool {
	text := unquotedText(w)
	if !mayExpand.MatchString(text) {
		return true
	}
	for _, s := range sequence.FindAllString(text, -1) {
		if !oldSequence.MatchString(s) {
			return false
		}
	}
	cp := &syntax.Word{Parts: slices.Clone(w.Parts)}
	syntax.SplitBraces(cp)
	for e, err := range expand.BracesSeq(nil, cp) {
		return err == nil && !strings.ContainsAny(unquotedText(e), "{}")
	}
	return true
}

// unquotedText returns the literal text of a word outside quotes.
func unquotedText(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			b.WriteString(l.Value)
		}
	}
	return b.String()
}

// word decodes a word that remains one word, as the shell does (XCU 2.6.7).
func (a *analysis) word(w *syntax.Word) Word {
	var d Word
	var b strings.Builder
	for i, p := range w.Parts {
		a.part(&d, &b, p, i == 0, i == len(w.Parts)-1)
	}
	d.Text = b.String()
	if d.Dynamic {
		d.Text = a.text(w)
		if d.Text == "" {
			d.Text = b.String()
		}
		d.value = tracer{a}.expand(w.Parts, false)
		if isTemporaryPath(d.value) {
			return Word{Text: d.value}
		}
	}
	return d
}

func (a *analysis) part(d *Word, b *strings.Builder, p syntax.WordPart, first, last bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		a.lit(d, b, p.Value, first, last)
	case *syntax.SglQuoted:
		if !p.Dollar {
			b.WriteString(p.Value)
			return
		}
		s, _, err := expand.Format(&expand.Config{}, p.Value, nil) // without one, all calls share and write one
		if err != nil {
			d.Dynamic = true
			return
		}
		s, _, _ = strings.Cut(s, "\x00")
		b.WriteString(s)
		d.Ambiguous = d.Ambiguous || a.kind != Bash || !simpleEscapes.MatchString(p.Value)
	case *syntax.DblQuoted:
		d.Ambiguous = d.Ambiguous || p.Dollar // translated by the locale
		for _, q := range p.Parts {
			if l, ok := q.(*syntax.Lit); ok {
				b.WriteString(unescape(l.Value, "$`\"\\"))
				continue
			}
			d.Dynamic = true
		}
	default: // ParamExp, CmdSubst, ArithmExp, ProcSubst, ExtGlob
		d.Dynamic = true
	}
}

// ordinary matches an unquoted text without a character that is special to any shell.
var ordinary = regexp.MustCompile(`^[A-Za-z0-9_/.%+,-]*$`)

// simpleEscapes matches a text in $'…' whose backslashes all versions of bash decode alike.
var simpleEscapes = regexp.MustCompile(`^([^\\]|\\[tn\\'"])*$`)

// lit decodes unquoted text.
func (a *analysis) lit(d *Word, b *strings.Builder, s string, first, last bool) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		start := first && i == 0
		// for zsh, an empty '' before the ~ does not count
		bare := start || a.kind == Zsh && i == 0 && b.Len() == 0
		switch {
		case c == '\\':
			if i++; i < len(s) {
				b.WriteByte(s[i])
			} else {
				d.Ambiguous = true // a backslash at the very end: shells differ
				b.WriteByte(c)
			}
			continue
		case c == '*' || c == '?' || c == '[':
			if !(c == '[' && start && len(s) == 1 && last) { // [ alone is a program
				d.Glob = true
			}
		case c == '~' && bare:
			d.Tilde = true
			if rest := s[1:]; !(rest == "" && last || strings.HasPrefix(rest, "/")) {
				d.Ambiguous = true // another user's home, or a previous folder
			}
		case c == '~' && (s[max(i-1, 0)] == '=' || s[max(i-1, 0)] == ':'):
			// bash replaces it after an = or a : in a text that looks like an assignment
			d.Ambiguous = true
		case c == '$' || c == '`':
			d.Ambiguous = d.Ambiguous || !(c == '$' && last && i == len(s)-1)
		case a.kind == Zsh && (c == '=' && bare || strings.IndexByte("()<>{", c) >= 0):
			d.Ambiguous = true // =cmd, glob qualifiers and flags, braces
		case a.kind == Zsh && strings.IndexByte("^#~", c) >= 0:
			d.Glob = true // if extended globs are enabled
		}
		b.WriteByte(c)
	}
}

// unescape removes backslashes as in a here-document or double quotes.
func unescape(s, special string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if strings.IndexByte(special, s[i+1]) >= 0 {
				i++
			} else if s[i+1] == '\n' {
				i++
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
