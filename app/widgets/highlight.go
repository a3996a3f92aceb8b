package widgets

import (
	"strings"

	"fyne.io/fyne/v2"
	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"fairlead/app/style"
)

// How much code is coloured, in bytes: more would hold up a frame, or beside the frames keep a core for seconds.
const (
	maxHighlight = 24 << 10
	maxLong      = 512 << 10
)

// Highlight makes coloured lines of code. lang is a language or the name of a file. An unknown language stays in one colour, and so does long code, for
// which there is [HighlightLong].
func Highlight(code, lang string) []CodeLine { return highlight(code, lang, maxHighlight) }

// HighlightLong is Highlight for longer code. It may take a second, and is safe for use beside the GUI thread.
func HighlightLong(code, lang string) []CodeLine { return highlight(code, lang, maxLong) }

// Long reports whether Highlight would leave code in one colour because it is long.
func Long(code string) bool { return len(code) > maxHighlight }

func highlight(code, lang string, most int) []CodeLine {
	plain := PlainLines(code)
	if lang == "" || len(code) > most {
		return plain
	}
	lexer := lexers.Get(lang)
	if lexer == nil {
		return plain
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, strings.Join(text(plain), "\n"))
	if err != nil {
		return plain
	}
	lines := []CodeLine{{}}
	for t := tokens(); t != chroma.EOF; t = tokens() {
		for i, part := range strings.Split(t.Value, "\n") {
			if i > 0 {
				lines = append(lines, CodeLine{})
			}
			if part != "" {
				last := &lines[len(lines)-1]
				last.Spans = append(last.Spans, Span{Text: part, Color: tokenColor(t.Type)})
			}
		}
	}
	if len(lines) < len(plain) { // a lexer that swallowed something: the text matters more than its colours
		return plain
	}
	return lines[:len(plain)]
}

func text(lines []CodeLine) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		for _, s := range l.Spans {
			out[i] += s.Text
		}
	}
	return out
}

func tokenColor(t chroma.TokenType) fyne.ThemeColorName {
	switch {
	case t.InCategory(chroma.Keyword), t == chroma.OperatorWord, t == chroma.NameBuiltinPseudo:
		return style.SyntaxKeyword
	case t.InCategory(chroma.Comment) && t != chroma.CommentPreproc:
		return style.SyntaxComment
	case t.InSubCategory(chroma.LiteralString), t == chroma.GenericInserted:
		return style.SyntaxString
	case t.InSubCategory(chroma.LiteralNumber), t == chroma.CommentPreproc:
		return style.SyntaxNumber
	case t == chroma.GenericDeleted, t == chroma.GenericError:
		return style.ColorBad
	case t == chroma.NameFunction, t == chroma.NameClass, t == chroma.NameTag, t == chroma.NameBuiltin, t == chroma.NameNamespace,
		t == chroma.NameDecorator, t == chroma.NameAttribute, t == chroma.NameProperty, t == chroma.GenericHeading, t == chroma.GenericSubheading:
		return style.SyntaxName
	}
	return ""
}
