package search

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// naive does what GSV does: it reads the file, splits it and compares every line.
func naive(text []byte, re *regexp.Regexp, w lineOptions) (out fileMatches) {
	if !utf8.Valid(text) || len(text) == 0 {
		return fileMatches{}
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	cut := func(list []string) (out []string) {
		for _, l := range list {
			r := []rune(strings.TrimSuffix(l, "\r"))
			out = append(out, string(r[:min(len(r), maxLine)]))
		}
		return out
	}
	for i, l := range lines {
		if !re.MatchString(strings.TrimSuffix(l, "\r")) {
			continue
		}
		if len(out.matches) < w.matches {
			out.matches = append(out.matches, grepMatch{
				Line: i + 1, Content: cut(lines[i : i+1])[0],
				Before: cut(lines[max(0, i-w.before):i]), After: cut(lines[i+1 : min(len(lines), i+1+w.after)]),
			})
		} else if !w.count {
			return out
		}
		out.count++
	}
	return out
}

// slowReader is a file of which Read returns a few bytes at a time.
type slowReader struct {
	*bytes.Reader
	rnd *rand.Rand
}

func (d slowReader) Read(p []byte) (int, error) { return d.Reader.Read(p[:1+d.rnd.IntN(len(p))]) }

func TestScanAgreesWithTheNaiveWay(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(11, 12))
	pieces := []string{"a", "b", "ab", "x", "needle", "Needle", "ne", " ", "\n", "\n", "\n", "\r\n", "\r", "é", "日本", "😀", strings.Repeat("long", 20), "0"}
	patterns := []string{"needle", "(?i)needle", "a", "ab|x", "^a", "b$", "^$", "needle$", "^.{70,}$", "(?i)needle|long", "a.*needle", "x?", "日本", "é$", `(^|[^a日])ab(x|$)`, "(?i)nEE"}
	for n := range 6000 {
		var text []byte
		for range rnd.IntN(60) {
			text = append(text, pieces[rnd.IntN(len(pieces))]...)
		}
		if n%10 == 0 {
			at := rnd.IntN(len(text) + 1)
			text = append(text[:at:at], append([]byte{0xff}, text[at:]...)...)
		}
		pattern := patterns[rnd.IntN(len(patterns))]
		m, err := newMatcher(pattern)
		if err != nil {
			t.Fatal(err)
		}
		w := lineOptions{matches: rnd.IntN(6), count: rnd.IntN(2) == 0}
		small := rnd.IntN(2) == 0
		if !small {
			w.before, w.after = rnd.IntN(3), rnd.IntN(3)
		}
		if w.matches == 0 && !w.count {
			w.matches = 1
		}
		s := newScanner(t.Context(), m, w)
		if small {
			s.buf = make([]byte, 8+rnd.IntN(80))
		}
		size := int64(len(text))
		if rnd.IntN(3) == 0 {
			size = 0
		}
		got, want := s.scan(slowReader{bytes.NewReader(text), rnd}, size), naive(text, regexp.MustCompile(pattern), w)
		got.isSkipped = false
		for i := range got.matches { // because of the small buffer: the beginning of a longer line
			if small && i < len(want.matches) && strings.HasPrefix(want.matches[i].Content, got.matches[i].Content[:min(6, len(got.matches[i].Content))]) {
				want.matches[i].Content = got.matches[i].Content
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q in %q, %+v, %d bytes at a time:\n%+v, want\n%+v", pattern, text, w, len(s.buf), got, want)
		}
	}
}

func TestScanShowsTheContextInLargeFiles(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	for i := range 60_000 {
		fmt.Fprintf(&text, "line %d %s\n", i+1, strings.Repeat("é", i%50))
	}
	for _, line := range []int{1, 2, 777, 30_000, 59_999, 60_000} {
		pattern := fmt.Sprintf(`^line %d\b`, line)
		m, err := newMatcher(pattern)
		if err != nil {
			t.Fatal(err)
		}
		w := lineOptions{matches: 3, before: 2, after: 3}
		got := newScanner(t.Context(), m, w).scan(bytes.NewReader(text.Bytes()), int64(text.Len()))
		if want := naive(text.Bytes(), regexp.MustCompile(pattern), w); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

func TestScanFindsInLinesOfAnyLength(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3*chunkSize)
	for _, c := range []struct {
		text, pattern string
		line          int
	}{
		{"a\n" + long + "needle" + long + "\nb\n", "needle", 2},
		{"a\n" + long + "needle", "needle$", 2},
		{"a\n" + long + "\nneedle\n", "needle", 3},
		{long + "needle\r\n", "needle$", 1},
		{long + "\r\n\nq", "^$", 2},
		{"a\n" + long + "need\nle", "needle", 0},
		{long, "^x+$", 1},
		{long + "\n", "^x+$", 1},
	} {
		m, err := newMatcher(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		got := newScanner(t.Context(), m, lineOptions{matches: 3}).scan(bytes.NewReader([]byte(c.text)), int64(len(c.text)))
		switch {
		case c.line == 0 && got.count == 0:
		case got.count != 1 || got.matches[0].Line != c.line || len(got.matches[0].Content) > maxLine:
			t.Errorf("%q in %d bytes: got %+v, want line %d", c.pattern, len(c.text), got, c.line)
		}
	}
}

func TestScanSkipsHarmlessHolesInLongLines(t *testing.T) {
	t.Parallel()
	hole := strings.Repeat("\x00", chunkSize+chunkSize/2+3)
	for _, text := range []string{
		hole, "a" + hole, hole + "needle" + hole + "\nneedle\n", "x\nneed" + hole + "le\n", "\n" + hole + "a\r\n" + hole, "need" + strings.Repeat("\x00", 5000) + "le" + hole,
		hole + strings.Repeat("x", chunkSize) + hole + "needle",
	} {
		for _, pattern := range []string{"needle", "(?i)needle", "^needle", "a$", `\bneedle\b`, "^\x00*$", "need\x00+le", "\x00{3}needle", "^$", ".", "^a?\x00+$", "[^\x00]a"} {
			m, err := newMatcher(pattern)
			if err != nil {
				t.Fatal(err)
			}
			w := lineOptions{matches: 3, count: true}
			got := newScanner(t.Context(), m, w).scan(strings.NewReader(text), int64(len(text)))
			want := naive([]byte(text), regexp.MustCompile(pattern), w)
			if got.count != want.count || len(got.matches) != len(want.matches) || len(got.matches) > 0 && got.matches[0].Line != want.matches[0].Line {
				t.Errorf("%q in %d bytes that begin %.9q: %d lines, want %d", pattern, len(text), text, got.count, want.count)
			}
		}
	}
}

// BenchmarkScanOfAHole measures the search of a disk image of zeros.
func BenchmarkScanOfAHole(b *testing.B) {
	m, err := newMatcher("needle")
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("\x00", 64<<20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if got := newScanner(b.Context(), m, lineOptions{matches: 3}).scan(strings.NewReader(text), int64(len(text))); got.count != 0 {
			b.Fatalf("got %+v, want no match", got)
		}
	}
}

// broken returns an error in the middle.
type broken struct{ *bytes.Reader }

func (b broken) Read(p []byte) (int, error) {
	if b.Len() < chunkSize {
		return 0, io.ErrUnexpectedEOF
	}
	return b.Reader.Read(p)
}

func TestAFileThatCannotBeReadToItsEndHasNoMatches(t *testing.T) {
	t.Parallel()
	m, err := newMatcher("needle")
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Repeat([]byte("needle\n"), chunkSize)
	s := newScanner(t.Context(), m, lineOptions{matches: 3})
	if got := s.scan(broken{bytes.NewReader(text)}, int64(len(text))); got.count != 0 {
		t.Errorf("got %+v, want no match of a file that cannot be read", got)
	}
	// A file that became shorter or longer since it was opened is searched as it is.
	for _, size := range []int64{1, int64(len(text)) * 2} {
		if got := s.scan(bytes.NewReader(text), size); got.count != 3 {
			t.Errorf("size %d: got %+v, want 3 matches", size, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := newScanner(ctx, m, lineOptions{matches: 3}).scan(bytes.NewReader(text), 0); got.count != 0 {
		t.Errorf("cancelled: got %+v, want no match", got)
	}
}

func TestNeedlesAreFoundAsByPackageBytes(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(13, 14))
	for range 20_000 {
		text := make([]byte, rnd.IntN(40))
		for i := range text {
			text[i] = "abAB zZ"[rnd.IntN(7)]
		}
		part := make([]byte, 1+rnd.IntN(4))
		for i := range part {
			part[i] = "ab z"[rnd.IntN(4)]
		}
		fold, from := rnd.IntN(2) == 0, rnd.IntN(len(text)+1)
		n := newNeedle(part, fold)
		in := text
		if fold {
			in = bytes.ToLower(text)
		}
		want := bytes.Index(in[from:], part)
		if want >= 0 {
			want += from
		}
		if got := n.index(text, from); got != want {
			t.Fatalf("%q in %q from %d, fold %v: %d, want %d", part, text, from, fold, got, want)
		}
	}
}

// endless is a generated file of the kernel, without end or size.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	clear(p)
	e.read += int64(len(p))
	return len(p), nil
}

func (e *endless) ReadAt(p []byte, _ int64) (int, error) { return len(p), nil }

func TestASearchOfAFileWithoutAnEndEnds(t *testing.T) {
	t.Parallel()
	m, err := newMatcher("needle")
	if err != nil {
		t.Fatal(err)
	}
	var e endless
	if got := newScanner(t.Context(), m, lineOptions{matches: 1}).scan(&e, 0); got.count != 0 || e.read > 2*maxGenerated {
		t.Errorf("got %v after %d bytes, want no match in at most %d", got, e.read, 2*maxGenerated)
	}
}
