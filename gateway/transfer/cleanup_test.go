package transfer_test

import (
	"os"
	"testing"

	"fairlead/gateway/protocol"
)

// A transfer that is cancelled while its destination is offline leaves no unfinished files once the
// destination is back, even if the gateway was restarted in between.
func TestACancelledTransferIsRemovedFromAReturningMachine(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	r.createFile("a", "x.bin", 24<<20)
	b := r.nodes["b"]
	for _, restart := range []bool{false, true} {
		r.nodes["a"].wire.slow.setOn(true)
		tr := r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"})
		r.waitTransfer(tr.ID, patience, func(t protocol.Transfer) bool { return t.BytesDone > 4<<20 && t.Current != "" })
		b.wire.disconnect(true)
		r.waitTransfer(tr.ID, patience, func(t protocol.Transfer) bool { return t.State == protocol.TransferWaiting })
		if unfinishedCount(t, b.dir) != 1 {
			t.Fatal("nothing unfinished is there")
		}
		r.cancel(tr)
		if restart {
			r.stopGW()
			r.start()
		}
		b.wire.disconnect(false)
		r.waitRemoved()
		r.waitTransfer(tr.ID, patience, func(t protocol.Transfer) bool { return t.Current == "" })
	}
}

// A sent request to remove unfinished files may not have been received.
func TestAMissedCancellationIsRepeated(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	r.createFile("a", "x.bin", 24<<20)
	b := r.nodes["b"]
	r.nodes["a"].wire.slow.setOn(true)
	tr := r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"})
	r.waitTransfer(tr.ID, patience, func(t protocol.Transfer) bool { return t.BytesDone > 4<<20 && t.Current != "" })
	b.wire.deaf.Store(true)
	r.cancel(tr)
	if unfinishedCount(t, b.dir) != 1 {
		t.Fatal("nothing unfinished is there")
	}
	b.wire.disconnect(true)
	b.wire.deaf.Store(false)
	b.wire.disconnect(false)
	r.waitRemoved()
	r.waitTransfer(tr.ID, patience, func(t protocol.Transfer) bool { return t.Current == "" })
}

func unfinishedCount(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
