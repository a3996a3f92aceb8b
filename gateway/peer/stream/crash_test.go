package stream

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/peer/crash/crashtest"
	"fairlead/gateway/protocol"
)

// panickingFolder is a folder that panics at its first use.
type panickingFolder struct {
	disk
	used bool
}

func (f *panickingFolder) Target(name string, into, make bool) (Target, error) {
	if !f.used {
		f.used = true
		panic("broken")
	}
	return f.disk.Target(name, into, make)
}

// answers is the gateway of a destination; it collects why transfers were refused, or "".
type answers chan string

func (a answers) Report(_ context.Context, _ string, params any, _ bool) error {
	if p, ok := params.(protocol.TransferAcceptParams); ok {
		a <- p.Error
	}
	return nil
}

func (answers) SendFrame(_ context.Context, f *Frame) error {
	f.Free()
	return nil
}

func TestPanicFailsOneTransfer(t *testing.T) {
	log, home, got := crashtest.Watch(t), t.TempDir(), make(answers, 4)
	e := NewEnds(Options{Files: &panickingFolder{disk: disk{home}}, Peer: got, Unfinished: OpenUnfinished(filepath.Join(t.TempDir(), "ledger"))})
	defer e.Close()
	begin := func(id uint32) {
		terms := &protocol.TransferStream{ID: protocol.TransferID(string(rune('a' + id))), Attempt: 1, Into: true, Conflict: protocol.ConflictRename}
		event(e, protocol.EventTransferReceive, protocol.TransferReceive{TransferID: id, Path: home, Size: 1, Stream: terms})
	}
	begin(1)
	if why := waitUntil(t, got, "an answer"); !strings.HasPrefix(why, "internal error in transfer") {
		t.Errorf("the transfer that panics: got %q, want a refusal", why)
	}
	begin(2)
	if why := waitUntil(t, got, "an answer"); why != "" {
		t.Errorf("the next transfer: got %q, want none", why)
	}
	log.Until(1, "transfer")
}
