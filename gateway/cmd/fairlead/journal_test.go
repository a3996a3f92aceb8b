package main

import (
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestJournalMarksUndosAndWhatWasUndone(t *testing.T) {
	call := protocol.JournalEntry{Tool: "Transfer", Node: protocol.NativePrefix, Status: protocol.CallDone, Input: []byte(`{"source":"a:x"}`)}
	undo, undone := call, call
	undo.Undo = true
	undone.Continued = &protocol.Continuation{UndoneAt: 1}
	var out strings.Builder
	if err := printJournal(&out, protocol.JournalListResult{Calls: []protocol.JournalEntry{undo, undone}}, nameBook{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if n := len(lines); n < 2 || !strings.Contains(lines[n-2], "undo of ") || !strings.HasSuffix(strings.TrimSpace(lines[n-1]), ", then undone") {
		t.Errorf("got %q, want a line for the undo and one that was undone", lines)
	}
}
