package stream

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
)

// reports collects what an end reports to its gateway, which answers at once.
type reports chan any

func (r reports) Report(_ context.Context, _ string, params any, _ bool) error {
	r <- params
	return nil
}

func (r reports) SendFrame(_ context.Context, f *Frame) error {
	f.Free()
	return nil
}

// TestAnAbandonedTransferOfTheBasicProtocolEndsByItself: without records, one end is not told that
// the other one failed.
func TestAnAbandonedTransferOfTheBasicProtocolEndsByItself(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "x"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		said := make(reports, 8)
		e := NewEnds(Options{Files: Disk{home}, Peer: said})
		defer e.Close()
		event(e, protocol.EventTransferSend, protocol.TransferSend{TransferID: 1, Path: "x"})
		event(e, protocol.EventTransferReceive, protocol.TransferReceive{TransferID: 2, Path: "y", Size: 9})
		open := func() int {
			synctest.Wait()
			e.mu.Lock()
			defer e.mu.Unlock()
			return len(e.open)
		}
		if n := open(); len(said) != 2 || n != 2 {
			t.Fatalf("got %d reports and %d transfers, want 2 and 2", len(said), n)
		}
		time.Sleep(basicIdle - time.Second)
		if n := open(); n != 2 {
			t.Errorf("after less than %s got %d transfers, want 2", basicIdle, n)
		}
		time.Sleep(2 * time.Second)
		// The gateway may have reused the numbers.
		if n := open(); n != 0 || len(said) != 2 {
			t.Errorf("after %s got %d transfers and %d reports, want 0 and 2", basicIdle, n, len(said))
		}
	})
	if list, err := os.ReadDir(home); err != nil || len(list) != 1 {
		t.Errorf("got %v, %v, want the source alone", list, err)
	}
}

func TestATransferBeyondTheLimitIsRefusedInWords(t *testing.T) {
	said := make(reports, 2*maxOpen)
	e := NewEnds(Options{Files: Disk{t.TempDir()}, Peer: said})
	defer e.Close()
	for id := range uint32(maxOpen) {
		event(e, protocol.EventTransferReceive, protocol.TransferReceive{TransferID: id, Path: "x"})
		waitUntil(t, said, "the acceptance")
	}
	const limit = "which is the limit"
	event(e, protocol.EventTransferReceive, protocol.TransferReceive{TransferID: maxOpen, Path: "x"})
	if got, ok := waitUntil(t, said, "a refusal").(protocol.TransferAcceptParams); !ok || !strings.Contains(got.Error, limit) {
		t.Errorf("a destination: got %+v; want ok and %v in Error", got, limit)
	}
	event(e, protocol.EventTransferSend, protocol.TransferSend{TransferID: maxOpen, Path: "x"})
	if got, ok := waitUntil(t, said, "a refusal").(protocol.TransferMetaParams); !ok || !strings.Contains(got.Error, limit) {
		t.Errorf("a source: got %+v; want ok and %v in Error", got, limit)
	}
	event(e, protocol.EventTransferReceive, protocol.TransferReceive{TransferID: 7, Path: "x"}) // replaces the one with the same number
	if got, ok := waitUntil(t, said, "the acceptance").(protocol.TransferAcceptParams); !ok || got.Error != "" {
		t.Errorf("a number that is used again: got %+v; want ok and an empty Error", got)
	}
}
