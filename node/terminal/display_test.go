package terminal

import (
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// idle is a program that does nothing.
type idle struct{}

func (idle) Write(p []byte) (int, error) { return len(p), nil }
func (idle) Resize(int, int) error       { return nil }
func (idle) SetTyping(bool)              {}
func (idle) Close()                      {}

func TestSnapshotInTheMiddleOfASequenceIsContinued(t *testing.T) {
	for _, text := range []string{"日本語", "a\x1b[31mred", "\x1b]0;title\x07after", "\x1b[6nx"} {
		for cut := 1; cut < len(text); cut++ {
			d := newDisplay(protocol.Terminal{Cols: 80, Rows: 24}, idle{}, func() {})
			d.Output([]byte(text[:cut]))
			v, err := d.addViewer()
			if err != nil {
				t.Fatal(err)
			}
			var shown strings.Builder
			take := func() {
				frames, _ := d.take(v)
				for _, f := range frames {
					if f.kind != protocol.TerminalStateChanged {
						shown.Write(f.body)
					}
				}
			}
			take()
			d.Output([]byte(text[cut:]))
			take()
			d.end(protocol.TerminalEnd{})
			again := newDisplay(protocol.Terminal{Cols: 80, Rows: 24}, idle{}, func() {})
			again.replay([]byte(shown.String()))
			again.end(protocol.TerminalEnd{})
			if got, want := again.screen.Text(0), d.screen.Text(0); got != want {
				t.Errorf("%q, cut after %d bytes: the viewer shows %q, want %q", text, cut, got, want)
			}
		}
	}
}
