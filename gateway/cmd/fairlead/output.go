package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

// output is standard output or standard error. It makes all text safe to print, whoever wrote it,
// so that no node, model, channel or other gateway can control the terminal.
type output struct {
	plain    *plainOutput
	terminal bool

	mu     sync.Mutex // guards filter
	filter *transform.Writer
}

func newOutput(to io.Writer) *output {
	plain := &plainOutput{to: to}
	return &output{plain: plain, terminal: isTerminal(to), filter: transform.NewWriter(plain, new(joinFilter))}
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.filter.Write(p)
}

// close writes an incomplete character at the end, and returns the error of the last failed write.
func (o *output) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.filter.Close() // plain remembers its error
	if err := o.plain.writeErr; err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// plainOutput writes bytes unchanged and remembers a failed write: a cut list is not a success.
type plainOutput struct {
	to       io.Writer
	mu       sync.Mutex // guards writeErr
	writeErr error
}

func (o *plainOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.to.Write(p)
	if err != nil {
		o.writeErr = err
	}
	return n, err
}

// unfilteredOutput writes bytes unchanged: it is for the program's own control sequences. Other
// text must have passed [flat].
func unfilteredOutput(w io.Writer) io.Writer {
	if o, ok := w.(*output); ok {
		return o.plain
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
	return terminalOf(w) >= 0
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

// joinFilter is [clean] for text that is only read: joiners stay where they combine several emoji or
// spell a word. Elsewhere they could hide something, so they are shown.
type joinFilter struct{ before rune }

func (f *joinFilter) Reset() { f.before = 0 }

func (f *joinFilter) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		r, size := utf8.DecodeRune(src[nSrc:])
		next := src[nSrc+size:]
		isJoiner := r == joiner || r == nonJoiner
		if !atEOF && (!utf8.FullRune(src[nSrc:]) || isJoiner && !utf8.FullRune(next)) {
			return nDst, nSrc, transform.ErrShortSrc
		}
		safe := cleanRune(r)
		if after, _ := utf8.DecodeRune(next); isJoiner && len(next) > 0 && joins(f.before, r, after) {
			safe = r
		}
		if nDst+utf8.UTFMax > len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		if safe >= 0 {
			nDst += utf8.EncodeRune(dst[nDst:], safe)
		}
		nSrc += size
		f.before = r
	}
	return nDst, nSrc, nil
}

func joins(before, r, after rune) bool {
	emoji := unicode.Is(unicode.So, before) || unicode.Is(unicode.Sk, before) && before > unicode.MaxLatin1 || before == '\uFE0F'
	return r == joiner && emoji && isEmojiAfter(after) || unicode.In(before, joining...) && unicode.In(after, joining...)
}

// isEmojiAfter reports whether r may follow a joiner in an emoji: ♀ ⚕ 👩 are symbols, the ↔ of a
// shaking head is a mathematical one.
func isEmojiAfter(r rune) bool { return unicode.In(r, unicode.So, unicode.Sm) && r > unicode.MaxLatin1 }

// visible makes invisible characters visible, so that the printed text is the judged one.
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
