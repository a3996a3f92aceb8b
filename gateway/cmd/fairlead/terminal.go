package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
	"fairlead/node/setup"
)

// terminal shows a conversation as text, or as one JSON object per line.
type terminal struct {
	out, err io.Writer
	in       *lines
	json     bool
	approve  string // "", once or deny
	went     bool   // --approve once has answered the question whether to continue
	names    names  // of the machines

	editor  *term.Terminal
	keys    keys // input of the line editor
	step    int
	written int  // bytes of the current step's text that are on the screen
	denied  bool // a call of this run was denied
	failed  bool // the person's own command failed
	midline bool // the cursor is not at the start of a line
	calls   map[protocol.CallID]shownCall
	notices map[string]bool // notices shown in this run
	// end is the gateway's own explanation of the run's end, which is not an answer.
	end string
	// asked are the approvals that the person was asked, with the end of the delay of postponed ones,
	// otherwise 0.
	asked map[protocol.QuestionID]int64
}

// shownCall is the part of a call that is on the screen.
type shownCall struct {
	state string
	bytes int64  // of its output
	tail  string // the last part of that output
}

func (t *terminal) interactive() bool { return t.in.fd >= 0 && !t.json }

func (t *terminal) print(s string) {
	if s == "" {
		return
	}
	io.WriteString(t.out, s)
	t.midline = !strings.HasSuffix(s, "\n")
}

func (t *terminal) newline() {
	if t.midline {
		t.print("\n")
	}
}

// note prints information that is not part of the conversation.
func (t *terminal) note(s string) {
	if t.json {
		return
	}
	t.newline()
	fmt.Fprintln(t.err, s)
}

// notice shows a run's notice once.
func (t *terminal) notice(s string) {
	if !t.notices[s] {
		setEntry(&t.notices, s, true)
		t.note(s)
	}
}

// printError prints an error that ends a run but not the conversation, as every error from the
// gateway. It returns false for an error that ends the conversation.
func (t *terminal) printError(err error) bool {
	var exit *exitError
	var wireErr *protocol.Error
	if errors.As(err, &exit) || errors.As(err, &wireErr) {
		if exit == nil || !exit.printed {
			t.note(err.Error())
		}
		return true
	}
	return false
}

func (t *terminal) emit(kind string, v any) {
	line, err := protocol.Marshal(map[string]any{"type": kind, kind: v})
	if err == nil {
		fmt.Fprintf(t.out, "%s\n", escapeJSON(line))
	}
}

func (t *terminal) delta(d protocol.Delta) {
	if t.json || d.Thinking {
		return
	}
	if d.Step != t.step {
		t.step, t.written = d.Step, 0
	}
	if skip := t.written - d.Offset; skip >= 0 && skip < len(d.Text) {
		t.print(d.Text[skip:])
		t.written = d.Offset + len(d.Text)
	}
}

func (t *terminal) message(m protocol.Message) {
	if c := m.Call; c != nil {
		t.denied = t.denied || c.State == protocol.CallDenied
		t.failed = t.failed || c.State == protocol.CallFailed && m.Origin == protocol.OriginDirect
	}
	if t.json {
		t.emit("message", m)
		return
	}
	switch m.Role {
	case protocol.RoleAssistant:
		if m.StopReason == protocol.StopBlind {
			t.note(m.Content.Text())
			return
		}
		if m.Origin == protocol.OriginNotice {
			t.end = m.Content.Text()
			return
		}
		// The streamed part is on the screen already.
		t.delta(protocol.Delta{Step: t.step, Text: m.Content.Text()})
		t.newline()
		t.written = 0
		t.step = -1
		if m.StopReason == "length" && m.ErrorMessage == "" {
			t.note("The answer is incomplete: it reached the model's output limit.")
		}
	case protocol.RoleToolResult:
		t.result(m)
	}
}

// call shows the start of a call and its live output.
func (t *terminal) call(c protocol.CallInfo) {
	shown := t.calls[c.CallID]
	if t.json {
		t.emit("call", c)
		setEntry(&t.calls, c.CallID, shown)
		return
	}
	if c.State == protocol.CallRunning && shown.state != protocol.CallRunning {
		t.newline()
		t.print(fmt.Sprintf("▸ %s on %s  %s\n", c.Tool, clean(t.names.of(c.Node)), clean(display.Subject(protocol.Question{Tool: c.Tool, Args: c.Args}))))
	}
	shown.state = c.State
	if news := c.Bytes - shown.bytes; news > 0 && c.Tail != "" {
		s := c.Tail
		if news < int64(len(s)) {
			s = s[int64(len(s))-news:]
		} else if shown.bytes > 0 {
			s = "…" + s
		}
		t.print(indent(s, t.midline))
		shown.bytes, shown.tail = c.Bytes, c.Tail
	}
	setEntry(&t.calls, c.CallID, shown)
}

// result shows the result of a call.
func (t *terminal) result(m protocol.Message) {
	c := m.Call
	if c == nil {
		return
	}
	if c.State == protocol.CallDone || c.State == protocol.CallFailed {
		if shown := t.calls[c.CallID]; shown.bytes > 0 {
			if rest := unseenOutput(resultText(m), shown.tail, shown.bytes); rest != "" {
				t.print(indent(rest, t.midline))
			}
		} else if s := resultText(m); s != "" {
			t.newline()
			t.print(indent(firstLines(s, 40), false))
		}
	}
	t.newline()
	line := c.State
	if c.ExitCode != nil {
		line += fmt.Sprintf(", exit code %d", *c.ExitCode)
	}
	if c.StartedAt > 0 && c.EndedAt > 0 {
		line += ", " + (time.Duration(c.EndedAt-c.StartedAt) * time.Millisecond).Round(10*time.Millisecond).String()
	}
	if c.Error != "" && c.State != protocol.CallFailed {
		line += ": " + c.Error
	}
	t.print("  " + line + "\n")
	if note := display.ResultNote(m.Content.ResultText()); note != "" {
		t.print("  " + clean(note) + "\n")
	}
}

// finish shows a run's end and returns the command's result.
func (t *terminal) finish(r protocol.RunInfo) error {
	denied, failed, end := t.denied, t.failed, cmp.Or(t.end, "Stopped.")
	t.step, t.written, t.notices, t.denied, t.failed, t.end = 0, 0, nil, false, false, ""
	if t.json {
		t.emit("run", r)
	}
	t.newline()
	switch r.State {
	case protocol.RunDone:
		if denied {
			return &exitError{code: exitDenied, err: errors.New("a call was denied"), printed: true}
		}
		if failed {
			return &exitError{code: exitTool, err: errors.New("the command failed"), printed: true}
		}
		return nil
	case protocol.RunCancelled:
		t.note(end)
		return &exitError{code: exitInterrupted, err: protocol.ErrCancelled, printed: true}
	}
	err := error(protocol.ErrInternal)
	if r.Error != nil {
		err = r.Error
	}
	return &exitError{code: exitFailed, err: err}
}

// errInterrupt is Ctrl+C on the line that is being read. It is also an io.EOF, because the editor
// does not distinguish it from Ctrl+D.
var errInterrupt = fmt.Errorf("interrupted: %w", io.EOF)

// keys reads the person's input. It records whether its last byte was Ctrl+C, because a terminal in
// raw mode does not turn that into a signal.
type keys struct {
	io.Reader
	interrupt bool
}

func (k *keys) Read(b []byte) (int, error) {
	n, err := k.Reader.Read(b)
	k.interrupt = bytes.IndexByte(b[:n], ctrlC) >= 0
	return n, err
}

const ctrlC = 3

// readMessage reads one line with editing and history, and more after \. Ctrl+C is errInterrupt.
func (t *terminal) readMessage(ctx context.Context, prompt string) (string, error) {
	old, err := term.MakeRaw(t.in.fd)
	if err != nil {
		return "", fmt.Errorf("set up the terminal: %w", err)
	}
	defer term.Restore(t.in.fd, old)
	if t.editor == nil {
		t.keys.Reader = t.in
		t.editor = term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{&t.keys, os.Stdout}, "")
	}
	if w, h, err := term.GetSize(t.in.fd); err == nil && w > 0 {
		t.editor.SetSize(w, h)
	}
	prompt = clean(prompt) // the editor writes to the terminal directly
	if i := strings.LastIndexByte(prompt, '\n'); i >= 0 {
		io.WriteString(t.editor, prompt[:i+1])
		prompt = prompt[i+1:]
	}
	t.editor.SetPrompt(prompt)
	return setup.Await(ctx, nil, func() (string, error) {
		line, err := readLines(t.editor)
		if errors.Is(err, io.EOF) && t.keys.interrupt {
			err = errInterrupt
		}
		return line, err
	})
}

// readLines reads a line, and further lines while they end in \.
func readLines(editor *term.Terminal) (string, error) {
	var whole strings.Builder
	for {
		line, err := editor.ReadLine()
		if err != nil && !errors.Is(err, term.ErrPasteIndicator) {
			return "", err
		}
		rest, more := strings.CutSuffix(line, `\`)
		whole.WriteString(rest)
		if !more {
			return whole.String(), nil
		}
		whole.WriteByte('\n')
		editor.SetPrompt("… ")
	}
}
