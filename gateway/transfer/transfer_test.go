package transfer_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

func checkSameFile(t *testing.T, a, b string) {
	t.Helper()
	x, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(x, y) {
		t.Errorf("%s (%d bytes) and %s (%d bytes) differ", a, len(x), b, len(y))
	}
}

// waitNoUnfinished waits until a folder has no unfinished files. An end removes them when it
// receives the failure, which is published earlier.
func waitNoUnfinished(t *testing.T, dir string) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		var left []string
		filepath.WalkDir(dir, func(p string, _ os.DirEntry, _ error) error {
			if strings.HasSuffix(p, ".part") {
				left = append(left, p)
			}
			return nil
		})
		if len(left) == 0 {
			return
		}
		if time.Since(began) > patience {
			t.Errorf("got %s, want nothing left", left)
			return
		}
	}
}

func TestFilesMoveBetweenMachinesAndTheWorkspace(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	from := r.createFile("a", "x.bin", 3<<20+17)
	for _, step := range []struct{ source, destination, lands string }{
		{"a:x.bin", "b:in/y.bin", filepath.Join(r.nodes["b"].dir, "in", "y.bin")},
		{"b:in/y.bin", "gsv:notes/z.bin", filepath.Join(r.home, "agents", "main", "notes", "z.bin")},
		{"gsv:notes/z.bin", "a:back/", filepath.Join(r.nodes["a"].dir, "back", "z.bin")},
		{"a:x.bin", "a:copy.bin", filepath.Join(r.nodes["a"].dir, "copy.bin")},
	} {
		tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{step.source}, Destination: step.destination}).ID, patience)
		if tr.State != protocol.TransferDone || tr.Bytes != 3<<20+17 || tr.BytesDone != tr.Bytes || tr.Files != 1 || tr.FilesDone != 1 || tr.Simple {
			t.Fatalf("%s to %s: got %+v, want one whole file", step.source, step.destination, tr)
		}
		checkSameFile(t, from, step.lands)
	}
	waitNoUnfinished(t, r.nodes["a"].dir)
	waitNoUnfinished(t, r.nodes["b"].dir)
	list, err := client.Call(t.Context(), r.c, protocol.TransferList, protocol.TransferListParams{History: true})
	if err != nil || list.Count != 4 {
		t.Errorf("got %+v, error %v, want 4 transfers", list, err)
	}
}

func TestTheToolWaitsForTheEnd(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	from := r.createFile("a", "x.bin", 1<<20)
	call := func(args string) (out struct {
		OK     bool
		Error  string
		Result map[string]any
	},
	) {
		t.Helper()
		res, err := client.Call(t.Context(), r.c, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "gsv__Transfer", Args: json.RawMessage(args)})
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(res.Result, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	out := call(`{"source":"a:x.bin","destination":"b:y.bin"}`)
	if !out.OK || out.Result["bytesTransferred"] != float64(1<<20) || out.Result["source"] != "a:x.bin" || out.Result["destination"] != "b:y.bin" {
		t.Errorf("got %+v, want 1 MiB copied", out)
	}
	id, _ := out.Result["transferId"].(string)
	if got, err := client.Call(t.Context(), r.c, protocol.TransferGet, protocol.TransferParams{ID: protocol.TransferID(id)}); err != nil || got.CallID == "" {
		t.Errorf("got %+v, error %v, want the ID of the call", got, err)
	}
	checkSameFile(t, from, filepath.Join(r.nodes["b"].dir, "y.bin"))
	r.createFile("b", "y.bin", 10) // the existing file is overwritten, as in GSV
	if out := call(`{"source":"a:x.bin","destination":"b:y.bin"}`); !out.OK {
		t.Errorf("got %+v, want the file overwritten", out)
	}
	checkSameFile(t, from, filepath.Join(r.nodes["b"].dir, "y.bin"))
	for args, want := range map[string]string{
		`{"source":"a:none","destination":"b:y"}`:             "Failed to read file " + filepath.Join(r.nodes["a"].dir, "none") + ": no such file or directory",
		`{"source":"a:/etc/passwd","destination":"b:y"}`:      "outside the workspace",
		`{"source":"a:x.bin","destination":"b:/etc/passwd"}`:  "outside the workspace",
		`{"source":"a:x.bin","destination":"b:../up"}`:        "outside the workspace",
		`{"source":"a","destination":"b:/x"}`:                 `Invalid transfer endpoint "a": expected format nodeId:/path or gsv:path`,
		`{"source":":x","destination":"b:/x"}`:                `expected format nodeId:/path or gsv:path`,
		`{"source":"gsv:","destination":"b:/x"}`:              `Invalid transfer endpoint "gsv:": path cannot be empty`,
		`{"source":"a:x.bin","destination":"b:"}`:             `Invalid transfer endpoint "b:": path cannot be empty`,
		`{"source":"gsv:x","destination":"c:/x"}`:             "Destination node not connected: c",
		`{"source":"gsv:y","destination":"gsv:x"}`:            "Cannot transfer from gsv to gsv",
		`{"source":"a:x","destination":"a:./x"}`:              "Source and destination are the same file",
		`{"source":"c:x.bin","destination":"b:y"}`:            "Source node not connected: c",
		`{"source":"a:x.bin","destination":"gsv:../../x"}`:    "Path traversal not allowed",
		`{"source":"a:x.bin","destination":"b:y.bin/deeper"}`: "Failed to create directory " + filepath.Join(r.nodes["b"].dir, "y.bin") + ": ",
	} {
		t.Run(args, func(t *testing.T) {
			if out := call(args); out.OK || !strings.Contains(out.Error, want) {
				t.Errorf("%s: %+v, want %q", args, out, want)
			}
		})
	}
}

func TestPausedTransferResumes(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	from := r.createFile("a", "x.bin", 24<<20)
	r.nodes["a"].wire.slow.setOn(true)
	tr := r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"})
	r.waitTransfer(tr.ID, patience, func(t protocol.Transfer) bool { return t.BytesDone > 8<<20 })
	p, err := client.Call(t.Context(), r.c, protocol.TransferPause, protocol.TransferParams{ID: tr.ID})
	if err != nil {
		t.Fatal(err)
	}
	if p.State != protocol.TransferPaused {
		t.Fatalf("got %+v, want it paused", p)
	}
	r.nodes["a"].wire.slow.setOn(false)
	if _, err := client.Call(t.Context(), r.c, protocol.TransferResume, protocol.TransferParams{ID: tr.ID}); err != nil {
		t.Fatal(err)
	}
	if end := r.waitEnd(tr.ID, recovers); end.State != protocol.TransferDone || end.Attempts != 2 {
		t.Fatalf("got %+v, want it done in the second attempt", end)
	}
	checkSameFile(t, from, filepath.Join(r.nodes["b"].dir, "y.bin"))
	waitNoUnfinished(t, r.nodes["b"].dir)
}

func TestAShrinkingFileIsCountedAsItArrived(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	from := r.createFile("a", "x.bin", 24<<20)
	r.nodes["a"].wire.slow.setOn(true)
	tr := r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"})
	r.waitTransfer(tr.ID, patience, func(t protocol.Transfer) bool { return t.BytesDone > 4<<20 })
	if err := os.Truncate(from, 1<<20); err != nil {
		t.Fatal(err)
	}
	r.nodes["a"].wire.slow.setOn(false)
	if tr = r.waitEnd(tr.ID, patience); tr.State != protocol.TransferDone || tr.Bytes != 1<<20 || tr.BytesDone != 1<<20 {
		t.Fatalf("got %+v, want 1 MiB done", tr)
	}
	checkSameFile(t, from, filepath.Join(r.nodes["b"].dir, "y.bin"))
}

func TestCancelLeavesNothingUnfinished(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	r.createFile("a", "x.bin", 24<<20)
	for _, rest := range []bool{false, true} {
		r.nodes["a"].wire.slow.setOn(true)
		tr := r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"})
		r.waitTransfer(tr.ID, patience, func(t protocol.Transfer) bool { return t.BytesDone > 8<<20 })
		if rest {
			if _, err := client.Call(t.Context(), r.c, protocol.TransferPause, protocol.TransferParams{ID: tr.ID}); err != nil {
				t.Fatal(err)
			}
		}
		r.cancelAndWait(tr)
	}
}

// recovers is the time limit for an interrupted transfer: without messages from either end it
// resumes after a minute.
const recovers = 2 * time.Minute

func TestATransferSurvivesEveryInterruption(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	size := int64(24 << 20)
	from := r.createFile("a", "x.bin", size)
	interrupt := map[string]func(){
		"the source's wire":      func() { r.nodes["a"].wire.disconnect(false) },
		"the destination's wire": func() { r.nodes["b"].wire.disconnect(false) },
		"the source's node":      func() { r.nodes["a"].stop(); r.startNode("a") },
		"the destination's node": func() { r.nodes["b"].stop(); r.startNode("b") },
		"the gateway":            func() { r.stopGW(); r.start() },
	}
	for what, f := range interrupt {
		t.Run(what, func(t *testing.T) {
			r.waitOnline("a") // the last transfer may have ended before its wire was cut
			r.waitOnline("b")
			r.nodes["a"].wire.slow.setOn(true)
			tr := r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin", Conflict: protocol.ConflictOverwrite})
			r.waitTransfer(tr.ID, patience, func(t protocol.Transfer) bool { return t.BytesDone > 4<<20 || t.Over() })
			f()
			r.nodes["a"].wire.slow.setOn(false)
			if end := r.waitEnd(tr.ID, recovers); end.State != protocol.TransferDone || end.BytesDone != size {
				t.Fatalf("%s: got %+v, want it done", what, end)
			}
			checkSameFile(t, from, filepath.Join(r.nodes["b"].dir, "y.bin"))
			waitNoUnfinished(t, r.nodes["b"].dir)
			if err := os.Remove(filepath.Join(r.nodes["b"].dir, "y.bin")); err != nil {
				t.Fatal(err)
			}
			if what == "the gateway" {
				r.checkAuditOfResumed("b:y.bin")
			}
		})
	}
}

// checkAuditOfResumed checks that the audit log says that the last transfer to a destination was
// continued after a restart, and who started it.
func (r *testGateway) checkAuditOfResumed(destination string) {
	r.t.Helper()
	list, err := client.Call(r.t.Context(), r.c, protocol.AuditList, protocol.AuditListParams{Kind: protocol.AuditCall})
	if err != nil {
		r.t.Fatal(err)
	}
	var resumed []bool
	for _, e := range list.Entries {
		if e.Tool == "Transfer" && strings.Contains(e.What, destination) {
			resumed = append(resumed, e.Resumed)
			if !strings.HasPrefix(e.By, "owner") || e.Verdict != "allow" {
				r.t.Errorf("got %+v, want the person's own call", e)
			}
		}
	}
	if len(resumed) < 2 || resumed[0] || !resumed[1] {
		r.t.Errorf("resumed, newest first: got %v, want one that was resumed and then ended", resumed)
	}
	calls, err := client.Call(r.t.Context(), r.c, protocol.JournalList, protocol.JournalListParams{Tool: "Transfer"})
	if err != nil {
		r.t.Fatal(err)
	}
	if c := calls.Calls[0].Continued; c == nil || len(c.Judged) != 1 || !c.Judged[0].Resumed {
		r.t.Errorf("journal, newest entry: got %+v, want the decision after the restart in the entry of the call", c)
	}
}

func TestATransferWaitsForItsMachine(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	from := r.createFile("a", "x.bin", 100)
	r.nodes["b"].wire.disconnect(true)
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		_, err := client.Call(t.Context(), r.c, protocol.TransferStart, protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:now.bin"})
		if errors.Is(err, protocol.ErrUnavailable) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("got %v for three minutes, want error ErrUnavailable", err)
		}
	}
	tr := r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:later.bin", Later: true})
	if tr.State != protocol.TransferWaiting || tr.ExpiresAt == 0 {
		t.Fatalf("got %+v, want it waiting, with an expiry", tr)
	}
	r.stopGW() // the queue is stored
	r.start()
	r.nodes["b"].wire.disconnect(false)
	if end := r.waitEnd(tr.ID, recovers); end.State != protocol.TransferDone {
		t.Fatalf("got %+v, want it done", end)
	}
	checkSameFile(t, from, filepath.Join(r.nodes["b"].dir, "later.bin"))
}

// TestInterruptionStartsAWaitOfItsOwn: the expiry limits the wait for an offline node, not the
// duration of the transfer.
func TestInterruptionStartsAWaitOfItsOwn(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	r.createFile("a", "x.bin", 48<<20)
	r.nodes["a"].wire.slow.setOn(true)
	const wait = 3_600_000
	tr := r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:x.bin", Later: true, ExpiresIn: wait})
	first := tr.ExpiresAt
	if first != tr.CreatedAt+wait {
		t.Errorf("got %+v, want it to expire %d ms after its creation", tr, wait)
	}
	r.waitTransfer(tr.ID, patience, func(now protocol.Transfer) bool { return now.BytesDone > 4<<20 })
	cut := time.Now().UnixMilli()
	r.nodes["b"].wire.disconnect(true)
	tr = r.waitTransfer(tr.ID, patience, func(now protocol.Transfer) bool { return now.State == protocol.TransferWaiting })
	if tr.ExpiresAt < cut+wait {
		t.Errorf("it ends %d ms after the cut, want %d", tr.ExpiresAt-cut, wait)
	}
	if _, err := client.Call(t.Context(), r.c, protocol.TransferCancel, protocol.TransferParams{ID: tr.ID}); err != nil {
		t.Error(err)
	}
}

func TestAWaitingTransferAsksAgainAfterARuleChange(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	r.createFile("a", "x.bin", 100)
	r.nodes["b"].wire.disconnect(true)
	var first protocol.Transfer
	for end := time.Now().Add(3 * time.Minute); first.State != protocol.TransferWaiting; time.Sleep(5 * time.Millisecond) {
		first = r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:first.bin", Later: true})
		if time.Now().After(end) {
			t.Fatal("b does not go away")
		}
	}
	if _, err := client.Call(t.Context(), r.c, protocol.RulePut, protocol.RulePutParams{Policy: json.RawMessage(`{"tool":"gsv__Transfer","verdict":"deny"}`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Call(t.Context(), r.c, protocol.TransferStart, protocol.TransferStartParams{
		Sources: []string{"a:x.bin"}, Destination: "b:second.bin",
		Later: true,
	}); !errors.Is(err, protocol.ErrForbidden) {
		t.Errorf("a denied one: %v", err)
	}
	r.nodes["b"].wire.disconnect(false)
	if end := r.waitEnd(first.ID, patience); end.State != protocol.TransferFailed || !strings.Contains(end.Error, "Denied by a rule") {
		t.Errorf("got %+v, want it denied by a rule", end)
	}
	if _, err := os.Stat(filepath.Join(r.nodes["b"].dir, "first.bin")); err == nil {
		t.Error("it was moved")
	}
}
