package screen

import (
	"bytes"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/parser"

	"fairlead/gateway/peer/format"
)

// interpreter carries out the program's output. It reads text itself; the parser sees escape
// sequences only, without the text of strings such as titles. So text can be any UTF-8: the parser
// would take some of its bytes for control characters.
type interpreter struct {
	state    *state
	writer   writer
	parser   *ansi.Parser
	sequence []byte // what was read of a sequence that is not complete, up to maxSequence bytes
	text     []byte // the text of a string sequence, up to maxString bytes
	cut      []byte // the first bytes of a character
	answers  []byte
	title    string
	titles   []string // that CSI 22 t stored
}

// Limits of what a program can make a screen hold.
const (
	maxSequence = 4096
	maxString   = 4096
	maxAddress  = 2048
	maxTitle    = 200 // characters
	maxTitles   = 8
	maxAnswers  = 4096
)

func newInterpreter(s *state) *interpreter {
	in := &interpreter{state: s, writer: writer{state: s}, parser: ansi.NewParser()}
	in.parser.SetDataSize(1)
	in.parser.SetHandler(ansi.Handler{
		Execute:   in.control,
		HandleCsi: in.csi,
		HandleEsc: in.escape,
		HandleOsc: func(int, []byte) { in.osc() },
		HandleDcs: func(cmd ansi.Cmd, _ ansi.Params, _ []byte) { in.dcs(cmd) },
	})
	return in
}

// write carries out p.
func (in *interpreter) write(p []byte) {
	for len(p) > 0 {
		switch state := in.parser.State(); {
		case state == parser.GroundState:
			p = in.readText(p)
		case isString(state):
			p = in.readString(p)
		case p[0] >= utf8.RuneSelf: // no sequence has such bytes
			in.parser.Reset()
			in.sequence = in.sequence[:0]
		default:
			in.feed(p[0])
			p = p[1:]
		}
	}
}

func isString(s parser.State) bool {
	return s == parser.OscStringState || s == parser.DcsStringState || s == parser.SosStringState ||
		s == parser.PmStringState || s == parser.ApcStringState
}

// feed gives one byte to the parser.
func (in *interpreter) feed(b byte) {
	if b == ansi.ESC && !isString(in.parser.State()) {
		in.parser.Reset() // the parser takes an ESC at the start of a DCS for its text
	}
	in.parser.Advance(b)
	switch {
	case b == ansi.ESC:
		in.sequence, in.text = append(in.sequence[:0], b), in.text[:0]
	case in.parser.State() == parser.GroundState:
		in.sequence, in.text = in.sequence[:0], in.text[:0]
	case b >= ' ': // control characters were carried out
		in.remember(b)
	}
}

func (in *interpreter) remember(p ...byte) {
	in.sequence = append(in.sequence, p[:min(len(p), maxSequence-len(in.sequence))]...)
}

// readString reads the text of a string up to its end, and returns the rest.
func (in *interpreter) readString(p []byte) []byte {
	end := bytes.IndexAny(p, "\x07\x18\x1a\x1b")
	if end < 0 {
		end = len(p)
	}
	in.text = append(in.text, p[:min(end, maxString-len(in.text))]...)
	in.remember(p[:end]...)
	if end == len(p) {
		return nil
	}
	in.feed(p[end])
	return p[end+1:]
}

// readText prints text and carries out control characters up to the next escape sequence, and
// returns the rest.
func (in *interpreter) readText(p []byte) []byte {
	if len(in.cut) > 0 {
		return in.completeRune(p)
	}
	for len(p) > 0 {
		b := p[0]
		switch {
		case b >= ' ' && b < 0x7f:
			n := 1
			for n < len(p) && p[n] >= ' ' && p[n] < 0x7f {
				n++
			}
			in.writer.printASCII(p[:n])
			p = p[n:]
		case b == ansi.ESC:
			in.feed(b)
			return p[1:]
		case b < utf8.RuneSelf:
			in.control(b)
			p = p[1:]
		case !utf8.FullRune(p):
			in.cut = append(in.cut, p...)
			return nil
		default:
			r, size := utf8.DecodeRune(p)
			p = p[size:]
			if r < 0xa0 { // a control character, the same as ESC and a letter
				in.feed(ansi.ESC)
				in.feed(byte(r) - 0x40)
				return p
			}
			in.writer.print(r)
		}
	}
	return nil
}

// completeRune adds p to the first bytes of a character, prints it once it is complete, and returns
// the rest.
func (in *interpreter) completeRune(p []byte) []byte {
	had := len(in.cut)
	buffer := append(in.cut, p[:min(len(p), utf8.UTFMax-had)]...)
	in.cut = nil
	if !utf8.FullRune(buffer) {
		in.cut = buffer
		return nil
	}
	_, size := utf8.DecodeRune(buffer)
	if size == 1 { // the new bytes do not belong to the old ones
		for range had {
			in.writer.print(utf8.RuneError)
		}
		return p
	}
	in.readText(buffer[:size])
	return p[size-had:]
}

// control carries out a control character.
func (in *interpreter) control(b byte) {
	s := in.state
	in.writer.last = 0
	switch b {
	case '\b':
		s.cursor.x, s.cursor.pending = max(0, s.cursor.x-1), false
	case '\t':
		s.tab(1)
	case '\n', '\v', '\f':
		s.lineFeed()
		if s.modes.newLine {
			s.cursor.x = 0
		}
	case '\r':
		s.cursor.x, s.cursor.pending = 0, false
	case 0x0e, 0x0f:
		s.cursor.charset.shifted = b == 0x0e
	}
}

// escape carries out ESC and a letter.
func (in *interpreter) escape(cmd ansi.Cmd) {
	s := in.state
	in.writer.last = 0
	switch in := cmd.Intermediate(); {
	case in == '(' || in == ')':
		s.cursor.charset.lines[in-'('] = cmd.Final() == '0'
		return
	case in == '#' && cmd.Final() == '8':
		s.align()
		return
	case in != 0:
		return
	}
	switch cmd.Final() {
	case '7':
		s.save()
	case '8':
		s.restore()
	case 'D':
		s.lineFeed()
	case 'E':
		s.lineFeed()
		s.cursor.x = 0
	case 'H':
		s.tabs[s.cursor.x] = true
	case 'M':
		s.reverseLineFeed()
	case 'c':
		in.title, in.titles = "", nil
		s.reset(s.main.cols, len(s.main.rows))
	case '=', '>':
		s.modes.Keypad = cmd.Final() == '='
	}
}

// osc carries out a string for the terminal itself: a title or a link.
func (in *interpreter) osc() {
	command, text, _ := bytes.Cut(in.text, []byte(";"))
	switch string(command) {
	case "0", "2":
		in.title = format.Line(string(text), maxTitle)
	case "8":
		_, address, _ := bytes.Cut(text, []byte(";"))
		isPrintable := func(r rune) bool { return r > ' ' && r < 0x7f }
		if len(address) > maxAddress || bytes.ContainsFunc(address, func(r rune) bool { return !isPrintable(r) }) {
			address = nil
		}
		in.writer.setLink(string(address))
	}
}
