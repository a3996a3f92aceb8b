package code

import (
	"strings"

	"fyne.io/fyne/v2"
	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"fairlead/app/style"
)

// Limits of highlighting, in bytes: more would delay a frame, or take seconds.
const (
	maxHighlight     = 24 << 10
	maxHighlightLong = 512 << 10
)

// Highlight highlights code of a language or file name, unless it is unknown or the code too long.
func Highlight(code, lang string) []Line { return highlight(code, lang, maxHighlight) }

// HighlightLong is Highlight for longer code. It may take a second; any goroutine may call it.
func HighlightLong(code, lang string) []Line { return highlight(code, lang, maxHighlightLong) }

// IsLong reports whether code is too long for Highlight.
func IsLong(code string) bool { return len(code) > maxHighlight }

func highlight(code, lang string, most int) []Line {
	plain := PlainLines(code)
	if lang == "" || len(code) > most {
		return plain
	}
	lexer := lexers.Get(lang)
	if lexer == nil {
		return plain
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, JoinLines(plain))
	if err != nil {
		return plain
	}
	lines := []Line{{}}
	for t := tokens(); t != chroma.EOF; t = tokens() {
		for i, part := range strings.Split(t.Value, "\n") {
			if i > 0 {
				lines = append(lines, Line{})
			}
			if part != "" {
				last := &lines[len(lines)-1]
				last.Spans = append(last.Spans, Span{Text: part, Color: tokenColor(t.Type)})
			}
		}
	}
	if len(lines) < len(plain) { // the lexer lost text: show the plain text instead
		return plain
	}
	return lines[:len(plain)]
}

// JoinLines returns lines without their colours.
func JoinLines(lines []Line) string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.Text()
	}
	return strings.Join(out, "\n")
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
