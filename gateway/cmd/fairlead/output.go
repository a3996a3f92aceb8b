package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode"
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

const (
	joiner    = '\u200D'
	nonJoiner = '\u200C'
)

// joining are the scripts in which a joiner between two letters changes their form.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
	unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
}

// filterText is clean for text that is only read: joiners stay where they combine several emoji or
// spell a word. Elsewhere they could hide something, so they are shown.
func filterText(s string) string {
	var f joinFilter
	return f.add(s) + f.flush()
}

// joinFilter applies prose to text that arrives in pieces.
type joinFilter struct {
	before  rune
	pending string // a joiner at the end, until the next character is known
}

func (f *joinFilter) add(s string) string {
	s = f.pending + s
	f.pending = ""
	if !strings.ContainsAny(s, string([]rune{joiner, nonJoiner})) {
		if s != "" {
			f.before, _ = utf8.DecodeLastRuneInString(s)
		}
		return clean(s)
	}
	var b strings.Builder
	for i, r := range s {
		if r != joiner && r != nonJoiner {
			b.WriteString(clean(string(r)))
			f.before = r
			continue
		}
		size := utf8.RuneLen(r)
		if i+size == len(s) {
			f.pending = string(r)
			break
		}
		if after, _ := utf8.DecodeRuneInString(s[i+size:]); joins(f.before, r, after) {
			b.WriteRune(r)
		} else {
			b.WriteString(clean(string(r)))
		}
		f.before = r
	}
	return b.String()
}

// flush returns the text that was held back. The next piece begins another text.
func (f *joinFilter) flush() string {
	rest := clean(f.pending)
	*f = joinFilter{}
	return rest
}

func joins(before, r, after rune) bool {
	emoji := unicode.Is(unicode.So, before) || unicode.Is(unicode.Sk, before) && before > unicode.MaxLatin1 || before == '\uFE0F'
	return r == joiner && emoji && isEmojiAfter(after) || unicode.In(before, joining...) && unicode.In(after, joining...)
}

// isEmojiAfter reports whether r may follow a joiner in an emoji: ♀ ⚕ 👩 are symbols, the ↔ of a
// shaking head is a mathematical one.
func isEmojiAfter(r rune) bool { return unicode.In(r, unicode.So, unicode.Sm) && r > unicode.MaxLatin1 }

// visible makes invisible characters visible, so that the text in a terminal is the text that was
// judged.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == ' ' || unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u{%04x}`, r)
		}
	}
	return b.String()
}
