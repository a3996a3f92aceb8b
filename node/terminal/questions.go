package terminal

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxHeld is the longest sequence that is checked, in bytes. Questions are shorter; a longer sequence
// passes as it is.
const maxHeld = 1 << 10

// questions removes from a program's output what asks the terminal something: this machine's screen
// answers, and a viewer that answered too would type the answer a second time. Sequences are those of
// ECMA-48 and of xterm (https://invisible-island.net/xterm/ctlseqs/ctlseqs.html). It passes only
// complete sequences and characters on, so that a snapshot can follow each of its results.
type questions struct {
	held []byte // the beginning of a sequence or character
}

const (
	enq = 0x05
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
)

// filter returns the next piece of the output without questions. The result is valid until the
// next call, and may share memory with p.
func (q *questions) filter(p []byte) []byte {
	if len(q.held) > 0 {
		p = append(q.held, p...)
		q.held = nil
	}
	var out []byte
	clean := true // p up to here is the result, without a copy
	start, i := 0, 0
	for i < len(p) {
		at := bytes.IndexByte(p[i:], esc)
		if e := bytes.IndexByte(p[i:], enq); e >= 0 && (at < 0 || e < at) {
			at = e
		}
		if at < 0 {
			break
		}
		i += at
		n, isQuestion := sequence(p[i:])
		if n == 0 && len(p)-i < maxHeld {
			q.held = bytes.Clone(p[i:])
			p = p[:i]
			break
		}
		if isQuestion {
			out, clean = append(out, p[start:i]...), false
			start = i + n
		}
		i += max(n, 1)
	}
	if len(q.held) == 0 {
		if n := incomplete(p[start:]); n > 0 {
			q.held = bytes.Clone(p[len(p)-n:])
			p = p[:len(p)-n]
		}
	}
	if clean {
		return p
	}
	return append(out, p[start:]...)
}

// incomplete returns the number of bytes at the end of p that begin a character whose rest is missing.
func incomplete(p []byte) int {
	for i := 1; i < utf8.UTFMax && i <= len(p); i++ {
		if last := p[len(p)-i:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return i
		}
	}
	return 0
}

// sequence returns the length of the sequence that p begins with, and whether it is a question; 0 if
// its end is missing.
func sequence(p []byte) (n int, isQuestion bool) {
	switch {
	case p[0] == enq:
		return 1, true
	case len(p) < 2:
		return 0, false
	case p[1] == '[':
		return control(p)
	case p[1] == ']', p[1] == 'P':
		return text(p)
	case p[1] == 'Z': // DECID
		return 2, true
	}
	return 1, false
}

// control returns the length of a control sequence, ESC [ parameters final.
func control(p []byte) (n int, isQuestion bool) {
	for i := 2; i < len(p); i++ {
		switch b := p[i]; {
		case b == esc || b == can || b == sub:
			return i, false
		case b >= 0x40 && b <= 0x7e:
			return i + 1, asks(string(p[2:i]), b)
		}
	}
	return 0, false
}

// asks reports whether a control sequence is a question, by its parameters with intermediate
// characters and its final character.
func asks(params string, final byte) bool {
	switch final {
	case 'c': // device attributes
		return true
	case 'n': // status and cursor; with > it sets a mode of keys
		return !strings.HasPrefix(params, ">")
	case 'p': // modes
		return strings.HasSuffix(params, "$")
	case 'q': // version
		return strings.HasPrefix(params, ">")
	case 'u': // flags of the keyboard, or the state of tabs
		return strings.HasPrefix(params, "?") || strings.HasSuffix(params, "$")
	case 'w':
		return strings.HasSuffix(params, "$")
	case 'x': // parameters of the terminal; with an intermediate it draws
		return params == "" || params == "0" || params == "1"
	case 't': // state, position, size and title of the window
		first, _, _ := strings.Cut(params, ";")
		return slices.Contains([]string{"11", "13", "14", "15", "16", "18", "19", "20", "21"}, first)
	}
	return false
}

// text returns the length of a sequence with a text up to BEL or ESC \: ESC ] of commands such as
// colours, and ESC P of requests.
func text(p []byte) (n int, isQuestion bool) {
	for i := 2; i < len(p); i++ {
		switch p[i] {
		case bel:
			if p[1] == ']' {
				return i + 1, bytes.HasSuffix(p[:i], []byte(";?"))
			}
		case can, sub:
			return i, false
		case esc:
			if i+1 == len(p) {
				return 0, false
			}
			if p[i+1] != '\\' {
				return i, false
			}
			body := string(p[2:i])
			if p[1] == 'P' {
				return i + 2, strings.HasPrefix(body, "$q") || strings.HasPrefix(body, "+q")
			}
			return i + 2, strings.HasSuffix(body, ";?")
		}
	}
	return 0, false
}
