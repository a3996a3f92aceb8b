package dfa

import (
	"bytes"
	"context"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func machine(t testing.TB, pattern string) *Machine {
	t.Helper()
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(tree, ASCII)
	if err != nil {
		t.Fatal(err)
	}
	return p.NewMachine()
}

// matching returns the numbers of the lines that match, from 0.
func (m *Machine) matching(text []byte) (list []int) {
	for at, n := 0, 0; at < len(text); {
		i, end := m.Find(context.Background(), m.Start(), text[at:])
		if i < 0 {
			if text[len(text)-1] != '\n' && m.End(end) {
				list = append(list, n+bytes.Count(text[at:], []byte("\n")))
			}
			break
		}
		n += bytes.Count(text[at:at+i], []byte("\n"))
		list = append(list, n)
		next := bytes.IndexByte(text[at+i:], '\n')
		if next < 0 {
			break
		}
		at, n = at+i+next+1, n+1
	}
	return list
}

// slowMatches says the same with package regexp.
func slowMatches(re *regexp.Regexp, text []byte) (list []int) {
	if len(text) == 0 {
		return nil
	}
	for n, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		if re.Match(bytes.TrimSuffix(line, []byte("\r"))) {
			list = append(list, n)
		}
	}
	return list
}

var patterns = []string{
	"", "a", "ab", "a+b", "^a", "b$", "^$", "a|b", "(ab)+", "a.b", `\bab\b`, "(?i)AB", "a*", `\s`, "(?s)a.b", "[^a]", "x{2}", `\Aab`, "(?m)^b", "(?m)b$",
	"(a|ab)(b|)c?", `\Bb`, `\b`, `\B`, "^", "$", `\z`, `a\b|^b`, "é", "[à-ÿ]x", `\p{L}+b`, `[^\x00-\x7f]`, "(?i)k", "ſ", "日本?", "😀", `[一-龥]{2}`, `a\r`, `\r`,
	`\n`, "a\nb", `(^|a)b($|x)`, `a{2,5}?b`, `.*a.*b`, "(?i)é", `\x{FFFD}`, `[^日]a`, "(a|b|ab)*x", `^.{3}$`, `\w\W\w`, `a$|^\s+$`,
}

func TestMachineMatchesLikeRegexp(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "b", "ab", "x", " ", "\n", "\n", "\r\n", "\r", "é", "ÿ", "K", "k", "K", "ſ", "日", "本", "語", "😀", "_", "B", "\ufffd"}
	for _, pattern := range patterns {
		m, re := machine(t, pattern), regexp.MustCompile(pattern)
		for range 500 {
			var text []byte
			for range rnd.IntN(24) {
				text = append(text, pieces[rnd.IntN(len(pieces))]...)
			}
			if got, want := m.matching(text), slowMatches(re, text); !slices.Equal(got, want) {
				t.Fatalf("%q in %q: lines %v, want %v", pattern, text, got, want)
			}
		}
	}
}

func TestLongTextsAreNoDifferent(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(7, 8))
	pieces := []string{"a", "b", "ab", "x ", "\n", "\n", "\r\n", "\r", "é", "K", "日本", "_", "the quick brown fox", strings.Repeat("0123456789", 30)}
	for _, pattern := range append(patterns, "quickly", "fox\\d+[^0-9]fox", "xa.{9}ab", "^é.*K$") {
		m, re := machine(t, pattern), regexp.MustCompile(pattern)
		for range 4 {
			var text []byte
			for size := rnd.IntN(80_000); len(text) < size; {
				text = append(text, pieces[rnd.IntN(len(pieces))]...)
			}
			if rnd.IntN(3) == 0 {
				text = bytes.ReplaceAll(text, []byte("\n"), []byte(" "))
			}
			if got, want := m.matching(text), slowMatches(re, text); !slices.Equal(got, want) {
				t.Fatalf("%q: %d lines, want %d", pattern, len(got), len(want))
			}
		}
	}
}

func TestLineCanArriveInPieces(t *testing.T) {
	t.Parallel()
	for _, pattern := range patterns {
		m, re := machine(t, pattern), regexp.MustCompile(pattern)
		for _, line := range []string{"", "a", "xxab", "abab x", "日本語x", "ab é", "aab"} {
			at, found := m.Start(), false
			for i, r := range line {
				n, next := m.Find(t.Context(), at, []byte(line[i:i+utf8.RuneLen(r)]))
				if at, found = next, n >= 0; found {
					break
				}
			}
			if got, want := found || m.End(at), re.MatchString(line); got != want {
				t.Errorf("%q in %q: %v, want %v", pattern, line, got, want)
			}
		}
	}
}

func TestTheMemoryOfAMachineIsBounded(t *testing.T) {
	t.Parallel()
	m := machine(t, "a.{18}b[^x]{20}c") // has 2^18 states and more
	rnd := rand.New(rand.NewPCG(3, 4))
	text := make([]byte, 200_000)
	for i := range text {
		text[i] = "abc"[rnd.IntN(3)]
	}
	re := regexp.MustCompile("a.{18}b[^x]{20}c")
	if got, want := m.matching(text), slowMatches(re, text); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	text = bytes.ReplaceAll(text, []byte("c"), []byte("a"))
	if i, _ := m.Find(t.Context(), m.Start(), text); i >= 0 {
		t.Errorf("got a match at %d, want none", i)
	}
	if m.made < 10_000 || cap(m.table) > 2*maxCells || m.size > 2*maxSeeds {
		t.Errorf("got %d states, %d cells, %d bytes of seeds, want many states within the limits", m.made, cap(m.table), m.size)
	}
}

func TestASearchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 4))
	text := make([]byte, 300_000)
	for i := range text {
		text[i] = "ab"[rnd.IntN(2)]
		if i%5000 == 0 {
			text[i] = '\n'
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, pattern := range []string{"(a|b)*a(a|b){900}c", "a(a|b){900}(.x{1000}|[^a]y{1000})c"} {
		t.Run(pattern, func(t *testing.T) {
			m := machine(t, pattern)
			m.Find(ctx, m.Start(), text)
			if most := 3 * m.patience; m.made > most {
				t.Errorf("got %d states, want at most %d", m.made, most)
			}
		})
	}
}

func TestTooLargeExpressionIsRefused(t *testing.T) {
	t.Parallel()
	tree, err := syntax.Parse(strings.Repeat("(abcdefghij){100}", 60), syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Compile(tree, ASCII); err != ErrTooLarge {
		t.Errorf("got error %v, want %v", err, ErrTooLarge)
	}
}

func FuzzAgreesWithRegexp(f *testing.F) {
	for _, p := range patterns {
		f.Add(p, "ab\nxé日\r\n k_b")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 100 || len(text) > 1000 || !utf8.ValidString(text) {
			return
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return
		}
		tree, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(tree, ASCII)
		if err == ErrTooLarge {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.NewMachine().matching([]byte(text)), slowMatches(re, []byte(text)); !slices.Equal(got, want) {
			t.Errorf("%q in %q: lines %v, want %v", pattern, text, got, want)
		}
		long := []byte(strings.Repeat(text+"\n-\n", 1+16_000/(len(text)+3)) + text)
		if got, want := p.NewMachine().matching(long), slowMatches(re, long); !slices.Equal(got, want) {
			t.Errorf("%q in much of %q: %d lines, want %d", pattern, text, len(got), len(want))
		}
	})
}

func BenchmarkFind(b *testing.B) {
	text := []byte(strings.Repeat("func (m *Machine) Find(ctx context.Context, at State, text []byte) (int, State) { // as usual, é\n", 1000))
	for _, pattern := range []string{"zz_nothing", "[A-Z]{5}[0-9]{5}", `(?i)nothing`, `\bfoo\b|\bbar\b`, `[a-z]+_zz`, `\p{Lu}{4}`, `^\s*$`} {
		m := machine(b, pattern)
		b.Run(pattern, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if i, _ := m.Find(b.Context(), m.Start(), text); i >= 0 {
					b.Fatalf("got a match at %d, want none", i)
				}
			}
		})
	}
}
