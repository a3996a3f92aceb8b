// Package words splits a command line into words and joins words to a command line, without a
// shell: nothing in it is expanded.
package words

import (
	"errors"
	"regexp"
	"strings"
)

// ErrQuote is returned for a line in which a quote is not closed.
var ErrQuote = errors.New("a quote is not closed")

// Split returns the words of a command line, in the notation of Unix shells: blanks separate words,
// quotes hold them together, and a backslash makes a blank, a quote or a backslash an ordinary
// character. Any other backslash stays, as in a path of Windows.
func Split(line string) ([]string, error) {
	var list []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	chars := []rune(line)
	for i := 0; i < len(chars); i++ {
		c := chars[i]
		isEscape := c == '\\' && quote != '\'' && i+1 < len(chars) && strings.ContainsRune("\"\\", chars[i+1]) ||
			c == '\\' && quote == 0 && i+1 < len(chars) && strings.ContainsRune(" \t'", chars[i+1])
		switch {
		case isEscape:
			i++
			word.WriteRune(chars[i])
			inWord = true
		case c == '\\' && quote == 0 && i+1 < len(chars) && chars[i+1] == '\n':
			i++ // the line goes on
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, inWord = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			if inWord {
				list = append(list, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, ErrQuote
	}
	if inWord {
		list = append(list, word.String())
	}
	return list, nil
}

// plain matches words that mean the same with and without quotes.
var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+:,./-]+$`)

// Join returns a command line that [Split] and every Unix shell read as these words.
func Join(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if quoted[i] = w; !plain.MatchString(w) {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'"'"'`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
