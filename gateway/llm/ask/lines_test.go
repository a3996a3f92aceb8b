package ask

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func readLines(r io.Reader) (got []string, err error) {
	for line, err := range lines(r) {
		if err != nil {
			return got, err
		}
		got = append(got, string(line))
	}
	return got, nil
}

func readEvents(r io.Reader) (got []string, err error) {
	for ev, err := range events(r) {
		if err != nil {
			return got, err
		}
		got = append(got, ev.Name+"|"+string(ev.Data))
	}
	return got, nil
}

func TestLinesEndInTwoWays(t *testing.T) {
	const in = "a\nb\r\nc\n\r\n\nlast"
	want := []string{"a", "b", "c", "", "", "last"}
	for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in))} {
		got, err := readLines(r)
		if !slices.Equal(got, want) || err != nil {
			t.Errorf("got %q, %v; want %v and no error", got, err, want)
		}
	}
}

func TestEventsAreTheSameHoweverTheStreamIsCut(t *testing.T) {
	const in = "\xef\xbb\xbf: ping\r\n\r\nevent: x\r\ndata: {\"a\":1}\r\n\r\ndata:b\ndata: c\n\nid: 3\nretry: 4\n\nevent: lost\n\ndata\n\ndata: [DONE]"
	want := []string{"x|{\"a\":1}", "|b\nc", "|", "|[DONE]"}
	for cut := range len(in) {
		got, err := readEvents(io.MultiReader(strings.NewReader(in[:cut]), strings.NewReader(in[cut:])))
		if !slices.Equal(got, want) || err != nil {
			t.Fatalf("cut at %d: got %q, %v; want %q", cut, got, err, want)
		}
	}
}

func TestEventIsGivenOutBeforeTheNextArrives(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	go io.WriteString(w, "data: first\n\n")
	for ev, err := range events(r) {
		if err != nil || string(ev.Data) != "first" {
			t.Fatalf(`got %v, %v; want no error and Data "first"`, ev, err)
		}
		break
	}
}

func TestLongLinesAreReadAndTooLongOnesRefused(t *testing.T) {
	long := strings.Repeat("x", MaxLine)
	if got, err := readLines(strings.NewReader(long + "\n")); len(got) != 1 || len(got[0]) != MaxLine || err != nil {
		t.Fatalf("got %v, %v; want length 1, got[0] of length %v and no error", len(got), err, MaxLine)
	}
	if _, err := readLines(strings.NewReader(long + "xx")); !errors.Is(err, errTooLong) {
		t.Fatalf("got %v; want the error errTooLong", err)
	}
	if _, err := readEvents(strings.NewReader(strings.Repeat("data: "+long[:MaxLine/2]+"\n", 3))); !errors.Is(err, errTooLong) {
		t.Fatalf("got %v; want the error errTooLong", err)
	}
}

func TestReadErrorsAreTheReadersOwn(t *testing.T) {
	broken := errors.New("connection reset")
	got, err := readEvents(io.MultiReader(strings.NewReader("data: a\n\ndata: half"), iotest.ErrReader(broken)))
	if !slices.Equal(got, []string{"|a"}) || !errors.Is(err, broken) {
		t.Fatalf("got %v, %v; want %v and error %v", got, err, []string{"|a"}, broken)
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("event: a\ndata: b\r\n\r\ndata: c"))
	f.Add([]byte(":\n\ndata\rdata:\r\r"))
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := readEvents(bytes.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		pieces, err := readEvents(iotest.OneByteReader(bytes.NewReader(in)))
		if err != nil || !slices.Equal(whole, pieces) {
			t.Fatalf("%q byte by byte, %q at once (%v)", pieces, whole, err)
		}
	})
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\nb\rc\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := readLines(iotest.HalfReader(bytes.NewReader(in)))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Split(string(in), "\n")
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		for i, line := range want {
			want[i] = strings.TrimSuffix(line, "\r")
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}
