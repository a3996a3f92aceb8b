package dfa

import (
	"regexp/syntax"
	"strings"
	"testing"
)

// positions marks with a bar where an assertion holds in a line.
func positions(t *testing.T, a Assertion, line string) string {
	t.Helper()
	var marked strings.Builder
	text := []rune(line)
	for i := range len(text) + 1 {
		tree := &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{
			{Op: syntax.OpBeginText}, {Op: syntax.OpLiteral, Rune: text[:i]}, a.Tree(), {Op: syntax.OpLiteral, Rune: text[i:]}, {Op: syntax.OpEndText},
		}}
		p, err := Compile(tree, []rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z', 'é', 'é'})
		if err != nil {
			t.Fatal(err)
		}
		m := p.NewMachine()
		if at, state := m.Find(t.Context(), m.Start(), []byte(line)); at >= 0 || m.End(state) {
			marked.WriteByte('|')
		}
		if i < len(text) {
			marked.WriteRune(text[i])
		}
	}
	return marked.String()
}

func TestAssertionsHoldBetweenTheirNeighbours(t *testing.T) {
	for _, c := range []struct {
		name      string
		assertion Assertion
		want      string // bars mark where it holds
	}{
		{"LineBegin", LineBegin, "|ab"},
		{"LineEnd", LineEnd, "ab|"},
		{"WordBoundary", WordBoundary, "|aé| -|b|"},
		{"NoWordBoundary", NoWordBoundary, "a|é |-b"},
		{"WordStart", WordStart, "|aé -|b"},
		{"WordEnd", WordEnd, "aé| -b|"},
		{"NoWordBefore", NoWordBefore, "|aé |-|b"},
		{"NoWordAfter", NoWordAfter, "aé| |-b|"},
		{"ASCIIWordBoundary", ASCIIWordBoundary, "|a|é -|b|"},
		{"NoASCIIWordBoundary", NoASCIIWordBoundary, "aé| |-b"},
		{"ASCIIWordStart", ASCIIWordStart, "é|aé-|b"},
		{"ASCIIWordEnd", ASCIIWordEnd, "éa|é-b|"},
		{"NoASCIIWordBefore", NoASCIIWordBefore, "|é|a-|b"},
		{"NoASCIIWordAfter", NoASCIIWordAfter, "a|é|-b|"},
		{"LineBeginCRLF", LineBeginCRLF, "|a\r|b"},
		{"LineEndCRLF", LineEndCRLF, "a|\rb|"},
		{"EmptyLine", NoWordBefore | NoWordAfter, "|"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := positions(t, c.assertion, strings.ReplaceAll(c.want, "|", "")); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestRepetitionsAreLimitedByTheSizeOfTheProgram(t *testing.T) {
	t.Parallel()
	repeat := func(n int, sub *syntax.Regexp) *syntax.Regexp {
		return &syntax.Regexp{Op: syntax.OpRepeat, Min: n, Max: n, Sub: []*syntax.Regexp{sub}}
	}
	a := &syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune{'a'}}
	for _, c := range []struct {
		name string
		tree *syntax.Regexp
		want error
	}{
		{"49,000", repeat(49_000, a), nil},
		{"51,000", repeat(51_000, a), ErrTooLarge},
		{"200 x 200", repeat(200, repeat(200, a)), nil},
		{"A billion squared", repeat(1_000_000_000, repeat(1_000_000_000, a)), ErrTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Compile(c.tree, ASCII); err != c.want {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}
