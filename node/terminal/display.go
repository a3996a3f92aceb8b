package terminal

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/screen"
	"fairlead/gateway/protocol"
)

// program is what runs in a terminal. Its methods may be called at the same time.
type program interface {
	Write(input []byte) (int, error)
	Resize(cols, rows int) error
	// SetTyping says whether a person types.
	SetTyping(yes bool)
	// Close tells the program that its terminal is gone, and ends it soon. It does not wait.
	Close()
}

// maxAnswers is the number of answers to the program that wait to be read by it.
const maxAnswers = 64

// display is a terminal: the screen of a program, and its viewers. It is safe for concurrent use.
type display struct {
	program program
	input   chan []byte   // for the program
	over    chan struct{} // closed when the terminal has ended
	changed func()        // the list of terminals is different; does not block

	mu      sync.Mutex // guards the fields below
	info    protocol.Terminal
	screen  *screen.Screen
	filter  questions
	viewers map[*viewer]struct{}
	typists int // viewers that type
}

// newDisplay returns the terminal of a program, and passes input on to it until [display.end].
func newDisplay(info protocol.Terminal, p program, changed func()) *display {
	d := &display{
		program: p, input: make(chan []byte, maxAnswers), over: make(chan struct{}), changed: changed,
		info: info, screen: screen.New(info.Cols, info.Rows, protocol.TerminalHistory), viewers: make(map[*viewer]struct{}),
	}
	crash.Go(d.passInput)
	return d
}

func (d *display) passInput() {
	for {
		select {
		case p := <-d.input:
			d.program.Write(p) // an error means that the program has ended or does not read
		case <-d.over:
			return
		}
	}
}

// Output shows the next piece of the program's output.
func (d *display) Output(p []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.screen.Write(p)
	if answer := d.screen.Answers(); len(answer) > 0 {
		select {
		case d.input <- answer:
		default: // a program that does not read its answers does not miss them
		}
	}
	if clean := d.filter.filter(p); len(clean) > 0 {
		for v := range d.viewers {
			v.add(protocol.TerminalOutput, clean)
		}
	}
	if title := d.screen.Title(); title != d.info.Title {
		d.info.Title = title
		d.sendState()
		d.changed()
	}
}

// replay shows output of the past, whose questions nobody waits for any more.
func (d *display) replay(p []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.screen.Write(p)
	d.screen.Answers()
	d.filter.filter(p)
	d.info.Title = d.screen.Title()
}

// Resized sets the size of the screen, not that of the program.
func (d *display) Resized(cols, rows int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.info.Cols == cols && d.info.Rows == rows {
		return
	}
	d.info.Cols, d.info.Rows = cols, rows
	d.screen.Resize(cols, rows)
	d.sendState()
}

// resize sets the size of the program's terminal and of the screen.
func (d *display) resize(s protocol.TerminalSize) {
	cols, rows := fit(s.Cols, s.Rows)
	if d.program.Resize(cols, rows) == nil {
		d.Resized(cols, rows)
	}
}

// fit returns the nearest size that a terminal can have.
func fit(cols, rows int) (int, int) {
	return min(max(cols, protocol.MinTerminalCols), protocol.MaxTerminalCols), min(max(rows, protocol.MinTerminalRows), protocol.MaxTerminalRows)
}

// sendState sends all viewers the state, without what the gateway adds.
func (d *display) sendState() {
	state := d.state()
	for v := range d.viewers {
		v.add(protocol.TerminalStateChanged, state)
	}
}

func (d *display) state() []byte {
	return protocol.Encode(protocol.TerminalState{Cols: d.info.Cols, Rows: d.info.Rows, Title: d.info.Title, WatchOnly: d.info.WatchOnly})
}

// end shows the end of the program. What is on the screen stays.
func (d *display) end(e protocol.TerminalEnd) {
	d.mu.Lock()
	d.info.EndedAt, d.info.End = time.Now().UnixMilli(), &e
	for v := range d.viewers {
		v.add(protocol.TerminalEnded, protocol.Encode(e))
	}
	close(d.over)
	d.mu.Unlock()
	d.changed()
}

// now describes the terminal.
func (d *display) now() protocol.Terminal {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.info
}

var errFull = errors.New("too many windows show this terminal already: close one")

// maxViewers limits the viewers of a terminal.
const maxViewers = 32

func (d *display) addViewer() (*viewer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.viewers) >= maxViewers {
		return nil, errFull
	}
	v := newViewer()
	if d.info.End != nil {
		v.add(protocol.TerminalEnded, protocol.Encode(*d.info.End))
	}
	d.viewers[v] = struct{}{}
	v.wake.Send()
	return v, nil
}

func (d *display) removeViewer(v *viewer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.viewers, v)
}

// take returns the frames that wait for a viewer. last says that nothing follows them.
func (d *display) take(v *viewer) (frames []frame, last bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	frames, last = v.pending, v.isOver
	if v.isStale {
		frames = append(d.snapshot(), frames...)
	}
	v.pending, v.size, v.isStale = nil, 0, false
	return frames, last
}

// snapshot returns the state and the screen. What does not fit into the frame of the snapshot
// follows as output.
func (d *display) snapshot() []frame {
	frames := []frame{{protocol.TerminalStateChanged, d.state()}}
	// The screen ends with an unfinished sequence, which the filter passes on when it is complete.
	kind, rest := byte(protocol.TerminalSnapshot), bytes.TrimSuffix(d.screen.Snapshot(), d.filter.held)
	for {
		n := min(len(rest), maxBody)
		frames = append(frames, frame{kind, rest[:n]})
		if rest = rest[n:]; len(rest) == 0 {
			return frames
		}
		kind = protocol.TerminalOutput
	}
}

// isBehind reports whether a viewer missed output, so that a snapshot follows.
func (d *display) isBehind(v *viewer) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return v.isStale && !v.isOver
}

// send sends a viewer its frames until the terminal or ctx ends, or write fails.
func (d *display) send(ctx context.Context, v *viewer, write func(kind byte, body []byte) error) error {
	for first := true; ; first = false {
		select {
		case <-v.wake:
		case <-ctx.Done():
			return ctx.Err()
		}
		if !first && d.isBehind(v) {
			select { // so that a fast program does not make a snapshot of each screen
			case <-time.After(snapshotEvery):
			case <-d.over:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		frames, last := d.take(v)
		for _, f := range frames {
			if err := write(f.kind, f.body); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
	}
}

// typing counts the viewers that type.
func (d *display) typing(change int) {
	d.mu.Lock()
	d.typists += change
	n := d.typists
	d.mu.Unlock()
	d.program.SetTyping(n > 0)
}

// enter passes input of a viewer on to the program. It waits while the program does not read.
func (d *display) enter(ctx context.Context, p []byte) {
	if d.info.WatchOnly || len(p) == 0 {
		return
	}
	select {
	case d.input <- p:
	case <-d.over:
	case <-ctx.Done():
	}
}
