package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// TestRunEndIsPrintedOnce checks that the gateway's explanation of why a run ended is not part
// of the answer that a script reads.
func TestRunEndIsPrintedOnce(t *testing.T) {
	for _, c := range []struct {
		run       protocol.RunInfo
		out, note string
	}{
		{protocol.RunInfo{State: protocol.RunCancelled}, "  \n", "Stopped.\n"},
		{protocol.RunInfo{State: protocol.RunFailed, Error: &protocol.Error{Message: "The model failed."}}, "  \n", ""},
	} {
		var out, note bytes.Buffer
		term := &terminal{out: &out, err: &note, in: newLines(strings.NewReader(""))}
		term.delta(protocol.Delta{Text: "  "})
		text := "Stopped."
		if c.run.Error != nil {
			text = c.run.Error.Message
		}
		term.message(protocol.Message{Role: protocol.RoleAssistant, Origin: protocol.OriginNotice, Content: protocol.Content{protocol.Text(text)}})
		err := term.finish(c.run)
		if err == nil || out.String() != c.out || note.String() != c.note {
			t.Errorf("%s: got %v, %q, %q; want an error, %v and note %v", c.run.State, err, out.String(), note.String(), c.out, c.note)
		}
	}
}

func TestAnAnswerThatIsCutOffSaysSo(t *testing.T) {
	var out, note bytes.Buffer
	term := &terminal{out: &out, err: &note, in: newLines(strings.NewReader(""))}
	term.message(protocol.Message{Role: protocol.RoleAssistant, StopReason: "length", Content: protocol.Content{protocol.Text("half")}})
	if out.String() != "half\n" || !strings.Contains(note.String(), "output limit") {
		t.Errorf(`got %q %q; want "half\n" and "output limit" in it`, out.String(), note.String())
	}
}

// TestWaitingForStandardInputCanBeInterrupted: Ctrl+C was reserved for the run, and nothing handled
// it before there was one.
func TestWaitingForStandardInputCanBeInterrupted(t *testing.T) {
	in, feed := io.Pipe()
	defer feed.Close()
	ch := &chat{term: &terminal{in: newLines(in)}, sigs: make(chan os.Signal, 1)}
	ch.sigs <- os.Interrupt
	var exit *exitError
	if _, err := ch.term.in.readAll(t.Context(), ch.sigs); !errors.As(err, &exit) || exit.code != exitInterrupted {
		t.Errorf("got %v; want an error of type *exitError and code %v", err, exitInterrupted)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ch.term.in.readAll(ctx, ch.sigs); !errors.As(err, &exit) || exit.code != exitInterrupted {
		t.Errorf("got %v; want an error of type *exitError and code %v", err, exitInterrupted)
	}
}

func TestTheNoteOfACommandIsShown(t *testing.T) {
	var out strings.Builder
	term := &terminal{out: &out, err: &out, in: newLines(strings.NewReader(""))}
	note := "The command changed protected files without permission: /w/.husky/pre-commit was created, which runs at your next commit. " + protocol.NoteMayAsk
	raw, err := protocol.Marshal(map[string]any{"status": "completed", "output": "done\n", "note": note})
	if err != nil {
		t.Fatal(err)
	}
	term.result(protocol.Message{Role: protocol.RoleToolResult, Call: &protocol.CallInfo{State: protocol.CallDone}, Content: protocol.Content{protocol.Text(string(raw))}})
	if got := out.String(); !strings.Contains(got, "/w/.husky/pre-commit was created, which runs at your next commit") || !strings.Contains(got, "You are asked whether to keep it.") {
		t.Errorf(`got %q; want "/w/.husky/pre-commit was created, which runs at your next commit" in it and "You are asked whether to keep it." in it`, got)
	}
}
