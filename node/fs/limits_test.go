package fs

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

// newCollected returns a file in parts of a program that has collected some bytes.
func newCollected(t *testing.T, caller string, bytes int64) *transfer {
	t.Helper()
	root, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, err := root.At(filepath.Join(root.Dir(), "a"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := root.Replace(p, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.Abort()
		root.Close()
	})
	return &transfer{caller: caller, collected: bytes, writer: &writer{at: p, new: w}}
}

func isExhausted(err error) bool {
	f, ok := errors.AsType[*protocol.Fault](err)
	return ok && f.Code == protocol.FaultResourceExhausted
}

// TestCollectedBytesOfAProgramAreLimited covers parts and downloads that wait for an answer: both
// are on the disk before anybody has seen them.
func TestCollectedBytesOfAProgramAreLimited(t *testing.T) {
	all := &transfers{open: make(map[string]*transfer), idle: time.Hour}
	first, second, other := newCollected(t, "a", maxCollected-10), newCollected(t, "a", 0), newCollected(t, "b", 0)
	for _, x := range []*transfer{first, second, other} {
		if _, err := all.begin(x); err != nil {
			t.Fatal(err)
		}
		defer x.timer.Stop()
	}
	if err := all.room(second, 10); err != nil {
		t.Errorf("up to the limit: got %v, want room", err)
	}
	if err := all.room(second, 1); !isExhausted(err) {
		t.Errorf("a byte more in parts: got %v, want resource_exhausted", err)
	}
	if _, err := all.begin(newCollected(t, "a", 1)); !isExhausted(err) {
		t.Errorf("a byte more in a download: got %v, want resource_exhausted", err)
	}
	if err := all.room(other, 10); err != nil {
		t.Errorf("another program: got %v, want room", err)
	}
	id := ""
	for name, x := range all.open {
		if x == first {
			id = name
		}
	}
	all.finish(id, first)
	if err := all.room(second, 10); err != nil {
		t.Errorf("after a file has ended: got %v, want room", err)
	}
}

func TestCollectedPartsLeaveSpaceFree(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		free, more int64
		isRefused  bool
	}{
		"enough":         {reserve + 10, 10, false},
		"too little":     {reserve + 10, 11, true},
		"already stored": {reserve - 1, 0, true},
		"not known":      {-1, 1 << 40, false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := checkFree(c.free, c.more); isExhausted(err) != c.isRefused {
				t.Errorf("%d bytes free, %d more: got %v, want refused %v", c.free, c.more, err, c.isRefused)
			}
		})
	}
}
