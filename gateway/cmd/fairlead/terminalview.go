package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wire"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

const (
	// sizeEvery is how often the size of the window is looked at. Windows has no signal for it.
	sizeEvery = 200 * time.Millisecond
	// retryLimit is how long a lost gateway is tried again.
	retryLimit = 2 * time.Minute
	retryEvery = time.Second
)

// leaveModes takes back what a program may have set: mouse, pasting, focus, keys, alternate screen,
// hidden cursor, colours.
const leaveModes = "\x1b[?1000;1002;1003;1004;1005;1006;2004l\x1b[?1l\x1b>\x1b[>4;0m\x1b[?1049l\x1b[?25h\x1b[r\x1b[m"

// clearScreen makes the window empty before a snapshot.
const clearScreen = "\x1b[?1049l\x1b[!p\x1b[r\x1b[m\x1b[H\x1b[2J"

// errLeft means that the person left the terminal.
var errLeft = errors.New("left")

// terminalView shows a terminal of a machine in this one.
type terminalView struct {
	to     client.Options
	params protocol.TerminalConnectParams
	in     *os.File // this terminal; nil: nobody types
	out    io.Writer
	notes  io.Writer

	mu     sync.Mutex   // guards the fields below, and out
	frames *wire.Frames // nil while there is no connection
	state  protocol.TerminalState
}

// run shows the terminal until it ends or the person leaves. This terminal is as before afterwards.
func (v *terminalView) run(ctx context.Context) error {
	if v.in != nil {
		if cols, rows, err := term.GetSize(int(v.in.Fd())); err == nil && v.params.Open != nil {
			v.params.Open.Cols, v.params.Open.Rows = cols, rows
		}
		fmt.Fprintln(v.notes, "At the start of a line: ~. leaves, ~t takes over, ~g gives back.")
	}
	if err := v.connect(ctx); err != nil {
		return err
	}
	restore, err := v.makeRaw()
	if err != nil {
		return err
	}
	defer restore()                                        // also after a panic
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP) // the others end ctx already
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	var size crash.Group
	crash.Go(func() { cancel(v.typing(ctx)) }) // a read of the keyboard cannot be interrupted
	size.Go(func() { v.sendSizes(ctx) })
	end, err := v.show(ctx)
	cancel(nil)
	size.Wait()
	restore()
	switch {
	case errors.Is(err, errLeft):
		fmt.Fprintf(v.notes, "\nThe program goes on. To come back: fairlead terminal --attach %s\n", shortID(v.params.ID))
		return nil
	case err != nil:
		return err
	case end.Error != "":
		return &exitError{code: exitFailed, err: errors.New(end.Error)}
	case end.ExitCode != nil && *end.ExitCode != 0:
		return &exitError{code: *end.ExitCode, err: fmt.Errorf("the program ended with exit code %d", *end.ExitCode)}
	}
	return nil
}

// makeRaw passes keys on as they are, until restore is called. Only its first call counts.
func (v *terminalView) makeRaw() (restore func(), err error) {
	if v.in == nil {
		return func() {}, nil
	}
	fd := int(v.in.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return nil, fmt.Errorf("prepare this terminal: %w", err)
	}
	return sync.OnceFunc(func() {
		term.Restore(fd, before)
		v.write([]byte(leaveModes))
	}), nil
}

// connect opens or views the terminal. A later call views the same one.
func (v *terminalView) connect(ctx context.Context) error {
	frames, info, err := client.OpenTerminal(ctx, v.to, v.params)
	if err != nil {
		return err
	}
	v.params.ID, v.params.Open = info.ID, nil
	v.mu.Lock()
	v.frames = frames
	v.mu.Unlock()
	v.sendSize()
	return nil
}

// show writes what the gateway sends until the terminal ends. It connects again when the connection
// is lost.
func (v *terminalView) show(ctx context.Context) (protocol.TerminalEnd, error) {
	for {
		end, err := v.showOnce(ctx)
		if err == nil && !end.Lost {
			return end, nil
		}
		for since := time.Now(); ; {
			if ctx.Err() != nil {
				return end, context.Cause(ctx)
			}
			err := v.connect(ctx)
			if err == nil {
				break
			}
			if errors.Is(err, protocol.ErrNotFound) || errors.Is(err, protocol.ErrUnauthorized) || errors.Is(err, protocol.ErrForbidden) || time.Since(since) > retryLimit {
				return end, err
			}
			select {
			case <-time.After(retryEvery):
			case <-ctx.Done():
			}
		}
	}
}

// showOnce writes what comes over one connection.
func (v *terminalView) showOnce(ctx context.Context) (end protocol.TerminalEnd, err error) {
	v.mu.Lock()
	frames := v.frames
	v.mu.Unlock()
	defer crash.WhenDone(ctx, func() { frames.Close() })()
	defer frames.Close()
	for {
		kind, body, err := frames.Read()
		if err != nil && ctx.Err() != nil {
			return end, err
		}
		if err != nil {
			v.note("The connection is lost; trying again.")
			return end, err
		}
		switch kind {
		case protocol.TerminalSnapshot:
			v.write([]byte(clearScreen))
			v.write(body)
		case protocol.TerminalOutput:
			v.write(body)
		case protocol.TerminalStateChanged:
			var s protocol.TerminalState
			if protocol.Unmarshal(body, &s) == nil {
				v.setState(s)
			}
		case protocol.TerminalEnded:
			return end, protocol.Unmarshal(body, &end)
		}
	}
}

func (v *terminalView) write(p []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.out.Write(p)
}

// note shows a line of ours between the program's.
func (v *terminalView) note(text string) {
	if v.in != nil {
		v.write([]byte("\r\n[" + text + "]\r\n"))
		return
	}
	fmt.Fprintln(v.notes, text)
}

// setState says what the person must know of a new state.
func (v *terminalView) setState(s protocol.TerminalState) {
	v.mu.Lock()
	before := v.state
	v.state = s
	v.mu.Unlock()
	switch {
	case s.Request != "" && s.Request != before.Request && s.Typing:
		v.note(flat(s.Request) + " asks to take over: ~a allows, ~d denies.")
	case s.Offline && !before.Offline:
		v.note("The machine is away; waiting for it.")
	case before.Cols > 0 && before.Typing && !s.Typing && s.Typist != "":
		v.note(flat(s.Typist) + " types now. ~t takes over.")
	case before.Cols > 0 && !before.Typing && s.Typing:
		v.note("You type now.")
	}
}

// send sends a frame, if there is a connection; else it is lost.
func (v *terminalView) send(kind byte, body []byte) {
	v.mu.Lock()
	frames := v.frames
	v.mu.Unlock()
	frames.Write(kind, body)
}

// sendSizes sends the size of the window when it changes.
func (v *terminalView) sendSizes(ctx context.Context) {
	tick := time.NewTicker(sizeEvery)
	defer tick.Stop()
	for before := v.windowSize(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if now := v.windowSize(); now != before {
				before = now
				v.sendSize()
			}
		}
	}
}

func (v *terminalView) windowSize() (s protocol.TerminalSize) {
	if v.in != nil {
		s.Cols, s.Rows, _ = term.GetSize(int(v.in.Fd()))
	}
	return s
}

func (v *terminalView) sendSize() {
	if s := v.windowSize(); s.Cols > 0 {
		v.send(protocol.TerminalResize, protocol.Encode(s))
	}
}

// typing passes the keys on until the person leaves or the input ends.
func (v *terminalView) typing(ctx context.Context) error {
	if v.in == nil {
		<-ctx.Done()
		return nil
	}
	keys := escapes{atStart: true}
	buf := make([]byte, 4<<10)
	for ctx.Err() == nil {
		n, err := v.in.Read(buf)
		if err != nil {
			return errLeft
		}
		for _, a := range keys.next(buf[:n]) {
			switch a.kind {
			case 0:
				return errLeft
			case protocol.TerminalAllow:
				v.send(a.kind, protocol.Encode(protocol.TerminalAnswer{Allow: a.allow}))
			default:
				v.send(a.kind, a.input)
			}
		}
	}
	return nil
}

// action is what keys mean: a frame to send, or 0 to leave.
type action struct {
	kind  byte
	input []byte
	allow bool // of TerminalAllow
}

// escapes finds the keys for this program: ~ and another one at the start of a line, as in ssh.
type escapes struct {
	atStart bool
	tilde   bool // a ~ at the start of a line waits for the next key
}

// next returns what the next keys mean.
func (e *escapes) next(p []byte) (list []action) {
	var input []byte
	flush := func() {
		if len(input) > 0 {
			list, input = append(list, action{kind: protocol.TerminalInput, input: input}), nil
		}
	}
	for _, b := range p {
		if e.tilde {
			e.tilde = false
			if a, ok := actionOf(b); ok {
				flush()
				list, e.atStart = append(list, a), true
				continue
			}
			if b != '~' { // "~~" types one
				input = append(input, '~')
			}
		} else if e.atStart && b == '~' {
			e.tilde = true
			continue
		}
		input = append(input, b)
		e.atStart = b == '\r' || b == '\n'
	}
	flush()
	return list
}

func actionOf(key byte) (action, bool) {
	switch key {
	case '.':
		return action{}, true
	case 't':
		return action{kind: protocol.TerminalTakeOver}, true
	case 'g':
		return action{kind: protocol.TerminalGiveBack}, true
	case 'a', 'd':
		return action{kind: protocol.TerminalAllow, allow: key == 'a'}, true
	}
	return action{}, false
}
