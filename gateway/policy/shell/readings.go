package shell

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// readings returns other readings of a text with characters on which shells and parser disagree.
func readings(text string) []string {
	var list []string
	if strings.Contains(text, "\\\n") {
		list = append(list, strings.ReplaceAll(text, "\\\n", "\n"), strings.ReplaceAll(text, "\\\n", ""))
	}
	if strings.Contains(text, "\r") {
		list = append(list, strings.ReplaceAll(text, "\r", "\n"))
	}
	visible := strings.Map(func(r rune) rune {
		if r != '\r' && unusualRune(r) != "" {
			return -1
		}
		return r
	}, text)
	for _, other := range []string{visible, separateWords(text)} {
		if other != text {
			list = append(list, other)
		}
	}
	return list
}

// separateWords inserts spaces between words and redirects where some shell splits a text and the
// parser does not: rm 12>x, 2<&-rm x, {fds[0]}>x rm x, time -o x rm x, and cat <<'X'# ; rm x.
func separateWords(text string) string {
	if strings.Contains(text, "time") {
		text = timeOption.ReplaceAllString(text, "command time$1")
	}
	if !strings.ContainsAny(text, "<>") {
		return text
	}
	text = hereEnd.ReplaceAllString(text, `$1\#`)
	var b []byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '<' && c != '>' {
			b = append(b, c)
			continue
		}
		if d := namedDescriptor.FindIndex(b[max(0, len(b)-maxDescriptor):]); d != nil {
			b = b[:len(b)-(d[1]-d[0])]
		} else if n := len(b); n > 1 && isDigits(string(b[n-2:])) {
			b = append(b, ' ')
		}
		b = append(b, c)
		if dash := closing.FindString(text[i+1 : min(len(text), i+maxDescriptor)]); dash != "" {
			b = append(b, dash...)
			if i += len(dash); i+1 < len(text) && strings.IndexByte(blanks+operators, text[i+1]) < 0 {
				b = append(b, ' ')
			}
		}
	}
	return string(b)
}

// maxDescriptor is the number of characters before and after a redirect's operator that may belong
// to its descriptor.
const maxDescriptor = 80

const (
	blanks    = " \t\n"
	operators = ";&|<>()"
)

var (
	timeOption      = regexp.MustCompile(`\btime([ \t]+-)`)
	namedDescriptor = regexp.MustCompile(`\{\w+(\[[^\]]*\])?\}$`)
	closing         = regexp.MustCompile(`^&[ \t]*-`)
	hereEnd         = regexp.MustCompile(`(<<-?[ \t]*[^\s;&|<>()]*['"])#`)
)

// plain are the characters with the same meaning in the grammars of bash and zsh, except for the
// sequences in unlike.
var plain = func() (t [256]bool) {
	for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 \t\n_-./,:@%+=*?'\"|&;>" {
		t[c] = true
	}
	return t
}()

var differentTokens = []string{">>&", "&|", ">&|", ">>|", "&>|", ";|", ";&"}

// readAlike reports whether bash and zsh certainly read a text as the same commands, so that it
// need not be parsed twice.
func readAlike(text string) bool {
	for i := 0; i < len(text); i++ {
		if !plain[text[i]] {
			return false
		}
	}
	for _, s := range differentTokens {
		if strings.Contains(text, s) {
			return false
		}
	}
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < utf8.RuneSelf && strings.IndexByte(" \t\n;|&>'\"", byte(r)) >= 0 }) {
		if reserved[w] {
			return false // such as a redirect before a compound command
		}
	}
	return true
}

// reserved are words that start a compound command, or that the shell reads in a special way.
var reserved = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`if then elif else fi while until do done for in case esac repeat foreach end select time function coproc let declare
		export typeset local readonly integer float nameref always [[ ]] noglob nocorrect eval trap -`) {
		m[w] = true
	}
	return m
}()

// addGuesses adds the results of another reading of the text as guesses.
func (f *Facts) addGuesses(g Facts) {
	base := len(f.Commands)
	for _, c := range g.Commands {
		c.Guess = true
		if c.Parent >= 0 {
			c.Parent += base
		}
		f.Commands = append(f.Commands, c)
	}
	for _, r := range g.Redirects {
		r.Guess, r.Command = true, -1
		f.Redirects = append(f.Redirects, r)
	}
	for _, s := range g.Assigns {
		s.Guess, s.WordIndex = true, 0
		f.Assigns = append(f.Assigns, s)
	}
	f.Findings = append(f.Findings, g.Findings...)
}

// equal reports whether two readings have the same words.
func (f Facts) equal(g Facts) bool {
	if len(f.Commands) != len(g.Commands) || len(f.Redirects) != len(g.Redirects) || len(f.Assigns) != len(g.Assigns) ||
		len(f.Findings) != len(g.Findings) {
		return false
	}
	for i, c := range f.Commands {
		if len(c.Words) != len(g.Commands[i].Words) {
			return false
		}
		for j, w := range c.Words {
			o := g.Commands[i].Words[j]
			// the caller sees the marks of the real shell
			w.Ambiguous, o.Ambiguous, w.Glob, o.Glob = false, false, false, false
			if w != o {
				return false
			}
		}
	}
	for i, r := range f.Redirects {
		if r.Write != g.Redirects[i].Write || r.Path.Text != g.Redirects[i].Path.Text {
			return false
		}
	}
	return true
}
