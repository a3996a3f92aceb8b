package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestOutputNeverControlsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ title, in, want string }{
		{"plain text", "a\tb ü 漢\n", "a\tb ü 漢\n"},
		{"colour", "\x1b[31mred\x1b[0m", "\uFFFD[31mred\uFFFD[0m"},
		{"clipboard, OSC 52", "\x1b]52;c;cm0gLXJm\a", "\uFFFD]52;c;cm0gLXJm\uFFFD"},
		{"C1 controls", "\u009b2J\u009d52;c;x\u009c", "\uFFFD2J\uFFFD52;c;x\uFFFD"},
		{"eight-bit C1 controls", "\x9b2J", "\uFFFD2J"},
		{"carriage return and backspace", "safe\rrm\b\b", "saferm\uFFFD\uFFFD"},
		{"delete", "a\x7f", "a\uFFFD"},
		{"bidirectional controls", "\u202eabc\u202c\u2066x\u2069", "\uFFFDabc\uFFFD\uFFFDx\uFFFD"},
		{"zero width and tags", "a\u200b\ufeffb\U000E0041", "a\uFFFD\uFFFDb\uFFFD"},
		{"line separators", "a\u2028b\u2029", "a\uFFFDb\uFFFD"},
		{"joined emoji", "👩🏽\u200d💻", "👩🏽\u200d💻"},
		{"part of a character", "a\xe6\xbc", "a\uFFFD\uFFFD"},
	} {
		t.Run(c.title, func(t *testing.T) {
			t.Parallel()
			for size := 1; size <= len(c.in); size++ { // wherever the text is cut
				var got bytes.Buffer
				o := newOutput(&got)
				for rest := []byte(c.in); len(rest) > 0; {
					n := min(size, len(rest))
					if wrote, err := o.Write(rest[:n]); wrote != n || err != nil {
						t.Fatalf("got %d bytes and %v, want %d bytes", wrote, err, n)
					}
					rest = rest[n:]
				}
				if err := o.close(); err != nil {
					t.Fatal(err)
				}
				if got.String() != c.want {
					t.Errorf("in pieces of %d: got %+q, want %+q", size, got.String(), c.want)
				}
			}
		})
	}
}

func TestAllOutputOfACommandIsFiltered(t *testing.T) {
	t.Parallel()
	root := newRoot()
	for name, w := range map[string]io.Writer{"standard output": root.OutOrStdout(), "standard error": root.ErrOrStderr()} {
		t.Run(name, func(t *testing.T) {
			if _, ok := w.(*output); !ok {
				t.Errorf("got %T as %s, want an output", w, name)
			}
		})
	}
}

func TestAToolsOutputIsExactUnlessAPersonSeesIt(t *testing.T) {
	t.Parallel()
	const text = "\x1b[31mred\x1b[0m\r\n\xff"
	result, err := json.Marshal(map[string]string{"output": "\x1b[31mred\x1b[0m\r\n"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		title    string
		terminal bool
		want     string
	}{
		{"pipe", false, text + "\x1b[31mred\x1b[0m\r\n"},
		{"terminal", true, "\uFFFD[31mred\uFFFD[0m\n\uFFFD\uFFFD[31mred\uFFFD[0m\n"},
	} {
		t.Run(c.title, func(t *testing.T) {
			t.Parallel()
			var got bytes.Buffer
			o := newOutput(&got)
			o.terminal = c.terminal
			fmt.Fprint(exactOutput(o), text)
			if err := errors.Join(printResult(exactOutput(o), io.Discard, result), o.close()); err != nil {
				t.Fatal(err)
			}
			if got.String() != c.want {
				t.Errorf("got %+q, want %+q", got.String(), c.want)
			}
		})
	}
}

func TestJSONOutputMeansTheSameAndIsSafeToPrint(t *testing.T) {
	t.Parallel()
	const text = "a\x1b]52;c;x\a\x7f\u009b\u202e\u200d\u2028\U000E0041\\ \" <b> ü 👩🏽\u200d💻"
	var got bytes.Buffer
	if err := printJSON(&got, map[string]string{text: text}); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsFunc(got.String(), unsafeToPrint) {
		t.Errorf("got %+q, want no control characters", got.String())
	}
	var back map[string]string
	if err := json.Unmarshal(got.Bytes(), &back); err != nil || back[text] != text {
		t.Errorf("got %+q back (%v), want %+q", back, err, text)
	}
}

func TestNoteOfAToolIsPrintedBesideItsOutput(t *testing.T) {
	t.Parallel()
	var out, notes bytes.Buffer
	err := printResult(&out, &notes, json.RawMessage(`{"output":"hi","note":"1 process was ended.","exitCode":3}`))
	if out.String() != "hi\n" || notes.String() != "Note: 1 process was ended.\n" || err == nil {
		t.Errorf("got %q and %q, %v; want the output, the note and the exit code", &out, &notes, err)
	}
}
