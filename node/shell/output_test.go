package shell

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// slowTail decodes everything and takes the last n characters.
func slowTail(all []byte, n int) (string, bool) {
	runes := []rune(string(all))
	if len(runes) <= n {
		return string(runes), false
	}
	return string(runes[len(runes)-n:]), true
}

func TestOutputAgreesWithKeepingEverything(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	pieces := []string{"a", "é", "€", "😀", "\xff", "\n", strings.Repeat("x", 3000), strings.Repeat("😀", 2000)}
	for range 12 {
		var o output
		var all []byte
		for range rnd.IntN(900) {
			p := []byte(pieces[rnd.IntN(len(pieces))])
			cut := rnd.IntN(len(p) + 1) // a character may come in two writes
			o.Write(p[:cut])
			o.Write(p[cut:])
			all = append(all, p...)
		}
		got := o.snapshot()
		if want, more := slowTail(all, maxOutput); got.text != want || got.truncated != more {
			t.Fatalf("%d bytes: %d characters of %d, truncated %v of %v", len(all), utf8.RuneCountInString(got.text), utf8.RuneCountInString(want), got.truncated, more)
		}
		if want, _ := slowTail(all, maxTail); o.tail() != want {
			t.Fatalf("%d bytes: got tail %q, want %q", len(all), o.tail(), want)
		}
		if o.size() != int64(len(all)) {
			t.Fatalf("size: got %d, want %d", o.size(), len(all))
		}
	}
}

func TestOutputStaysSmall(t *testing.T) {
	var o output
	line := []byte(strings.Repeat("y\n", 32<<10))
	for range 2000 { // 131 MB
		o.Write(line)
	}
	if cap(o.buf) > 1_000_000 {
		t.Errorf("%d bytes are kept, want at most 1,000,000", cap(o.buf))
	}
	if v := o.snapshot(); len(v.text) != maxOutput || !v.truncated {
		t.Errorf("got %d characters, truncated %v; want %d, truncated", len(v.text), v.truncated, maxOutput)
	}
	big := make([]byte, 3*retained)
	o.Write(big)
	if v := o.snapshot(); v.text != string(make([]byte, maxOutput)) {
		t.Error("one write that is larger than what is kept went wrong")
	}
}

func TestShrinkingOutputKeepsItsTailAndCounts(t *testing.T) {
	for _, n := range []int{0, 5, initialBuffer, retained, 3 * maxBuffer / 2} {
		var o output
		fmt.Fprint(&o, strings.Repeat("é\n", n/3))
		before := o.snapshot()
		o.shrink(retained)
		if after := o.snapshot(); after != before || o.bufferSize() > retained || o.size() != before.bytes {
			t.Errorf("%d bytes: %d held; lines %d, %d, want %d, %d", n, o.bufferSize(), after.lines, after.first, before.lines, before.first)
		}
		tail := o.tail()
		o.shrink(tailBytes)
		if o.tail() != tail || o.bufferSize() > tailBytes || o.snapshot().truncated != (before.truncated || len(before.text) > tailBytes) || o.snapshot().lines != before.lines {
			t.Errorf("%d bytes: got tail %q, want %q and the counts as before", n, o.tail(), tail)
		}
	}
}

func TestLinesAreCountedAlsoWhenTheyAreLost(t *testing.T) {
	var o output
	if v := o.snapshot(); v != (snapshot{}) {
		t.Errorf("got %+v, want %v", v, (snapshot{}))
	}
	for i := range 200_000 {
		fmt.Fprintf(&o, "line %d\n", i)
	}
	v := o.snapshot()
	first, _, _ := strings.Cut(v.text, "\n")
	if !strings.HasSuffix(fmt.Sprint("line ", v.first), first) || v.lines != 200_000 || !v.truncated {
		t.Errorf("first is %d, %q, of %d lines; want the number that its text has, of 200,000", v.first, first, v.lines)
	}
	fmt.Fprint(&o, "unfinished")
	if w := o.snapshot(); w.lines != 200_001 {
		t.Errorf("got %d lines, want 200_001", w.lines)
	}
	for range 7 { // without any line feed
		o.Write(make([]byte, 128<<10))
	}
	if w := o.snapshot(); w.lines != 200_001 || w.first != 200_000 {
		t.Errorf("got %d lines, first %d; want 200,001 and 200,000", w.lines, w.first)
	}
}

func FuzzLastRunes(f *testing.F) {
	f.Add([]byte("a\xffé"), 2, true)
	f.Add([]byte("\x80\x80\x80\x80"), 3, true)
	f.Fuzz(func(t *testing.T, raw []byte, n int, cut bool) {
		n = max(0, min(n, 1000))
		s, truncated := lastRunes(raw, n, cut)
		if !utf8.ValidString(s) || utf8.RuneCountInString(s) > n || cut && !truncated {
			t.Fatalf("lastRunes(%q, %d, %v): got %q, truncated %v; want at most that many characters of valid UTF-8", raw, n, cut, s, truncated)
		}
		if want, more := slowTail(raw, n); !cut && (s != want || truncated != more) {
			t.Fatalf("lastRunes(%q, %d) = %q, want %q", raw, n, s, want)
		}
	})
}
