package tools

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"sync"
)

// What \d, \s and \w stand for in the original, where they and \b speak of Unicode; in RE2 they are ASCII. The texts go between brackets.
const (
	digits = `\p{Nd}`
	spaces = `\t-\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}`
	// Alphabetic, Mark, decimal numbers, connectors, joiners: letters in circles and squares are alphabetic and no letters.
	wordly = `\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d}\x{24b6}-\x{24e9}\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189}`
)

// wordRunes are the characters of words, as ascending pairs of first and last.
var wordRunes = sync.OnceValue(func() []rune { return classRunes("[" + wordly + "]") })

func classRunes(class string) []rune {
	tree, err := syntax.Parse(class, syntax.Perl)
	if err != nil {
		panic(err) // a constant: the first test finds it
	}
	return tree.Rune
}

// others writes the characters that a class does not have, for use in another class.
func others(class string) string {
	var b strings.Builder
	set := classRunes("[^" + class + "]")
	for i := 0; i < len(set); i += 2 {
		fmt.Fprintf(&b, `\x{%x}-\x{%x}`, set[i], set[i+1])
	}
	return b.String()
}

var otherWordly, otherSpaces = sync.OnceValue(func() string { return others(wordly) }), sync.OnceValue(func() string { return others(spaces) })

// rustSyntax rewrites what the Rust regex crate, whose syntax seed 000 names, has and package regexp/syntax lacks or understands otherwise, as far
// as there are other words for it.
func rustSyntax(pattern string) (string, error) {
	var b strings.Builder
	class, first := false, 0 // first is where a class's characters begin
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			if rest := pattern[i:]; !class && pattern[i+1] == 'Q' {
				if end := strings.Index(rest, `\E`); end >= 0 {
					rest = rest[:end+2]
				}
				b.WriteString(rest)
				i += len(rest) - 1
				continue
			}
			text, size := escape(pattern[i:], class)
			b.WriteString(text)
			i += size - 1
			continue
		case !class && c == '[':
			class, first = true, i+1
			if strings.HasPrefix(pattern[first:], "^") {
				first++
			}
			b.WriteString(pattern[i:first])
			i = first - 1
			continue
		case class && c == '[' && strings.HasPrefix(pattern[i:], "[:"):
			if end := strings.Index(pattern[i:], ":]"); end > 0 {
				b.WriteString(pattern[i : i+end+2])
				i += end + 1
				continue
			}
		case class && c == ']' && i > first:
			class = false
		case class && strings.HasPrefix(pattern[i:], "&&"):
			return "", failf("Invalid regex pattern: classes cannot be intersected with && (RE2 syntax). Write the characters out, or & once.")
		}
		b.WriteByte(pattern[i])
	}
	return b.String(), nil
}

// escape rewrites the escape sequence that text begins with and says how long it was.
func escape(text string, class bool) (string, int) {
	open, not, end := "[", "[^", "]"
	if class {
		open, end = "", ""
	}
	switch text[1] {
	case 'd':
		return digits, 2
	case 'D':
		return `\P{Nd}`, 2
	case 's':
		return open + spaces + end, 2
	case 'w':
		return open + wordly + end, 2
	case 'S':
		if class {
			return otherSpaces(), 2
		}
		return not + spaces + end, 2
	case 'W':
		if class {
			return otherWordly(), 2
		}
		return not + wordly + end, 2
	case 'u', 'U':
		if strings.HasPrefix(text[2:], "{") {
			return `\x`, 2
		}
		size := map[byte]int{'u': 4, 'U': 8}[text[1]]
		if len(text) < 2+size {
			return text[:2], 2
		}
		return `\x{` + text[2:2+size] + "}", 2 + size
	}
	return text[:2], 2
}
