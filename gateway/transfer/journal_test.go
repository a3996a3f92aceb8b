package transfer_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/gateway/protocol/display"
)

// onlyEntry returns the only journal entry of gsv__Transfer.
func (r *testGateway) onlyEntry() protocol.JournalEntry {
	r.t.Helper()
	res, err := client.Call(r.t.Context(), r.c, protocol.JournalList, protocol.JournalListParams{Tool: "Transfer"})
	if err != nil || len(res.Calls) != 1 {
		r.t.Fatalf("journal: got %+v, %v, want one call", res.Calls, err)
	}
	return res.Calls[0]
}

// waitEndedEntry waits for an entry that is over, and returns it.
func (r *testGateway) waitEndedEntry() (e protocol.JournalEntry) {
	r.t.Helper()
	polltest.Until(r.t, "the call ended", func() bool { e = r.onlyEntry(); return e.Status != protocol.CallRunning })
	return e
}

// auditLines returns the lines of the audit log as the windows show them, oldest first.
func (r *testGateway) auditLines() (list []string) {
	r.t.Helper()
	res, err := client.Call(r.t.Context(), r.c, protocol.AuditList, protocol.AuditListParams{Kind: protocol.AuditCall})
	if err != nil {
		r.t.Fatal(err)
	}
	names := display.Names{Machine: func(id protocol.NodeID) string { return string(id) }, Chat: func(k protocol.SessionKey) string { return string(k) }}
	for _, e := range res.Entries {
		title, outcome := display.AuditLine(e, names)
		list = append([]string{title + " | " + outcome}, list...)
	}
	return list
}

// outputOf returns the result in a journal entry.
func outputOf(t *testing.T, raw json.RawMessage) (out struct {
	OK     bool
	Error  string
	Result struct {
		BytesTransferred int64
		SHA256, State    string
	}
},
) {
	t.Helper()
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("result %s: %v", raw, err)
	}
	return out
}

// The journal entry of a person's transfer ends with the transfer and has its outcome.
func TestEntryEndsWithTheTransfer(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	from := r.createFile("a", "x.bin", 300<<10)
	r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"}).ID, recovers)
	e := r.waitEndedEntry()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	if out := outputOf(t, e.Output); e.Status != protocol.CallDone || out.Result.BytesTransferred != 300<<10 || out.Result.SHA256 != hex.EncodeToString(sum[:]) || out.Result.State != protocol.TransferDone {
		t.Errorf("entry: got %s, %+v, want done with the bytes and the checksum of the file", e.Status, out)
	}
	if got := r.auditLines(); len(got) != 1 || got[0] != "Sent x.bin from a to b | by you on test" {
		t.Errorf("audit log: got %q, want one line about a sent file", got)
	}
}

// A transfer that fails is no sent file, in the journal as in the audit log. A retry that arrives
// gets a line of its own.
func TestFailedTransferIsNotShownAsSent(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	tr := r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:no-such-file"}, Destination: "b:"})
	failed := r.waitEnd(tr.ID, recovers)
	e := r.waitEndedEntry()
	if e.Status != protocol.CallFailed || e.Error == "" || e.Error != failed.Error || outputOf(t, e.Output).OK {
		t.Errorf("entry: got %s (%s), want failed: %s", e.Status, e.Error, failed.Error)
	}
	got := r.auditLines()
	if len(got) != 1 || !strings.HasPrefix(got[0], "Send no-such-file from a to b | by you on test, failed to read file ") {
		t.Errorf("audit log: got %q, want one line about a failure", got)
	}
	r.createFile("a", "no-such-file", 100)
	if _, err := client.Call(t.Context(), r.c, protocol.TransferRetry, protocol.TransferParams{ID: tr.ID}); err != nil {
		t.Fatal(err)
	}
	r.waitTransfer(tr.ID, recovers, func(tr protocol.Transfer) bool { return tr.State == protocol.TransferDone })
	polltest.Until(t, "the retry is recorded", func() bool { return r.onlyEntry().Continued != nil })
	if e := r.onlyEntry(); e.Status != protocol.CallFailed || e.Continued.Ended == nil || e.Continued.Ended.State != protocol.CallDone {
		t.Errorf("entry after the retry: got %s, then %+v, want failed, then done", e.Status, e.Continued)
	}
	if got := r.auditLines(); len(got) != 2 || got[1] != "Sent no-such-file from a to b | by you on test" {
		t.Errorf("audit log after the retry: got %q, want the sent file last", got)
	}
}

// The entry of a transfer that waits over a restart of the gateway stays open and ends with it.
func TestEntryEndsAfterARestart(t *testing.T) {
	for _, name := range []string{"x.bin", "no-such-file"} {
		t.Run(name, func(t *testing.T) {
			r := newTestGateway(t, "a", "b")
			r.createFile("a", "x.bin", 100)
			r.nodes["b"].stop()
			polltest.Until(t, "b is offline", func() bool { return r.connectedAt("b") == 0 })
			tr := r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:" + name}, Destination: "b:", Later: true})
			r.stopGW()
			r.start()
			r.waitOnline("a")
			if e := r.onlyEntry(); e.Status != protocol.CallRunning {
				t.Fatalf("entry after the restart: got %s (%s), want running", e.Status, e.Error)
			}
			r.startNode("b")
			want := protocol.CallDone
			if end := r.waitEnd(tr.ID, recovers); end.State == protocol.TransferFailed {
				want = protocol.CallFailed
			}
			if e := r.waitEndedEntry(); e.Status != want || (name == "x.bin") != (want == protocol.CallDone) {
				t.Errorf("entry: got %s (%s), want %s", e.Status, e.Error, want)
			}
		})
	}
}

// A call that does not wait says that the transfer started, and the end follows in its entry.
func TestEndFollowsACallThatDoesNotWait(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	r.nodes["b"].stop()
	polltest.Until(t, "b is offline", func() bool { return r.connectedAt("b") == 0 })
	args, _ := json.Marshal(map[string]any{"source": "a:no-such-file", "destination": "b:x", "later": true})
	if _, err := client.Call(t.Context(), r.c, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "gsv__Transfer", Args: args}); err != nil {
		t.Fatal(err)
	}
	if got := r.auditLines(); len(got) != 1 || got[0] != "Send no-such-file from a to b | by you on test, started" {
		t.Errorf("audit log at first: got %q, want one line about the start", got)
	}
	r.startNode("b")
	polltest.Until(t, "the end is recorded", func() bool { return r.onlyEntry().Continued != nil })
	if e := r.onlyEntry().Continued.Ended; e == nil || e.State != protocol.CallFailed || e.Error == "" {
		t.Errorf("end: got %+v, want a failure", e)
	}
	if got := r.auditLines(); len(got) != 2 || !strings.HasPrefix(got[1], "Send no-such-file from a to b | by you on test, failed to read file ") {
		t.Errorf("audit log: got %q, want the failure last", got)
	}
}

// A call that waits reports the end itself: the audit log has one line.
func TestAwaitedEndIsRecordedOnce(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	args, _ := json.Marshal(map[string]any{"source": "a:no-such-file", "destination": "b:x"})
	if _, err := client.Call(t.Context(), r.c, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "gsv__Transfer", Args: args}); err != nil {
		t.Fatal(err)
	}
	if e := r.onlyEntry(); e.Status != protocol.CallFailed || e.Continued != nil {
		t.Errorf("entry: got %s, then %+v, want failed alone", e.Status, e.Continued)
	}
	if got := r.auditLines(); len(got) != 1 || !strings.Contains(got[0], "failed") {
		t.Errorf("audit log: got %q, want one failure", got)
	}
	if _, err := os.Stat(filepath.Join(r.nodes["b"].dir, "x")); err == nil {
		t.Error("the file exists at the destination, want none")
	}
}

// An undo has an entry that says so, and the entry of the call that started the transfer says that
// it was undone. An undo that restores nothing changes only its own entry.
func TestJournalSaysThatATransferWasUndone(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	writeFile(t, "new", r.nodes["a"].dir, "x")
	writeFile(t, "old", r.nodes["b"].dir, "x")
	tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x"}, Destination: "b:x", Conflict: protocol.ConflictOverwrite}).ID, patience)
	if e := r.waitEndedEntry(); e.Undo || e.Continued != nil {
		t.Fatalf("entry of the transfer: got undo %v, continued %+v, want neither", e.Undo, e.Continued)
	}
	entries := func() (undo, sent protocol.JournalEntry) {
		t.Helper()
		res, err := client.Call(t.Context(), r.c, protocol.JournalList, protocol.JournalListParams{Tool: "Transfer"})
		if err != nil || len(res.Calls) < 2 {
			t.Fatalf("journal: got %+v, %v, want the transfer and an undo", res.Calls, err)
		}
		return res.Calls[0], res.Calls[len(res.Calls)-1]
	}
	if _, err := r.undoTransfer(tr.ID); err != nil {
		t.Fatal(err)
	}
	undo, sent := entries()
	if !undo.Undo || undo.Status != protocol.CallDone {
		t.Errorf("entry of the undo: got undo %v, %s, want a done undo", undo.Undo, undo.Status)
	}
	if sent.Undo || sent.Continued == nil || sent.Continued.UndoneAt < sent.EndedAt {
		t.Errorf("entry of the transfer: got undo %v, continued %+v, want one undone after %d", sent.Undo, sent.Continued, sent.EndedAt)
	}
	at := sent.Continued.UndoneAt
	if _, err := r.undoTransfer(tr.ID); err == nil {
		t.Fatal("a second undo: got no error, want one")
	}
	undo, sent = entries()
	if !undo.Undo || undo.Status != protocol.CallFailed || sent.Continued.UndoneAt != at {
		t.Errorf("after an undo that failed: got undo %v, %s, undone at %d, want a failed undo and %d", undo.Undo, undo.Status, sent.Continued.UndoneAt, at)
	}
}
