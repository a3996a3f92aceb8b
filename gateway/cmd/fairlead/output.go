package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/term"
)

// output is standard output or standard error. It makes all text safe to print, whoever wrote it,
// so that no node, model, channel or other gateway can control the terminal. It remembers a failed
// write, because a list that a full disk cuts off is not a success.
type output struct {
	to       io.Writer
	terminal bool

	mu       sync.Mutex // guards the fields below
	filter   joinFilter
	partial  []byte // the beginning of a character whose rest is in the next write
	writeErr error
}

func newOutput(f *os.File) *output { return &output{to: f, terminal: term.IsTerminal(int(f.Fd()))} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := append(o.partial, p...)
	whole := len(all)
	for i := 1; i <= min(len(all), utf8.UTFMax); i++ {
		if b := all[len(all)-i]; utf8.RuneStart(b) {
			if !utf8.FullRune(all[len(all)-i:]) {
				whole -= i
			}
			break
		}
	}
	text := o.filter.add(string(all[:whole]))
	o.partial = bytes.Clone(all[whole:])
	return len(p), o.writeLocked(text)
}

func (o *output) writeLocked(text string) error {
	_, err := io.WriteString(o.to, text)
	if err != nil {
		o.writeErr = err
	}
	return err
}

// close writes buffered bytes, and returns the error of the first failed write.
func (o *output) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if rest := o.filter.add(string(o.partial)) + o.filter.flush(); rest != "" {
		o.writeLocked(rest)
	}
	o.partial = nil
	if o.writeErr == nil {
		return nil
	}
	return fmt.Errorf("write the output: %w", o.writeErr)
}

// plainOutput is an [output] that writes bytes unchanged.
type plainOutput struct{ *output }

func (o plainOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(p), o.writeLocked(string(p))
}

// unfilteredOutput writes bytes unchanged: it is for the program's own control sequences. Other
// text must have passed [flat].
func unfilteredOutput(w io.Writer) io.Writer {
	if o, ok := w.(*output); ok {
		return plainOutput{o}
	}
	return w
}

// exactOutput writes bytes unchanged unless the output is a terminal: a file or another program
// gets exactly the data of the tool or setting.
func exactOutput(w io.Writer) io.Writer {
	if isTerminal(w) {
		return w
	}
	return unfilteredOutput(w)
}

func isTerminal(w io.Writer) bool {
	if o, ok := w.(*output); ok {
		return o.terminal
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func printJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeJSON(b.Bytes()))
	return err
}

// escapeJSON escapes the characters that JSON allows in strings and [clean] replaces, such as C1
// controls and those that change the direction of text. They occur only in strings, so the JSON has
// the same meaning.
func escapeJSON(data []byte) []byte {
	var b strings.Builder
	for _, r := range string(data) {
		switch {
		case !unsafeToPrint(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return []byte(b.String())
}
