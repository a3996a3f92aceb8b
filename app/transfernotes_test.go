package app

import (
	"fmt"
	"slices"
	"testing"

	"fairlead/app/pagetest"
	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

func TestTheEndOfATransferIsNotifiedWhileNobodyLooks(t *testing.T) {
	f := &fakeNotifier{}
	s := &shell{notes: notes{n: f}}
	want := f.wants(t)
	var v state.View
	end := func(id string, at int64) {
		v.Finished = append(slices.Clone(v.Finished), protocol.Transfer{ID: protocol.TransferID(id), Sources: []string{"nas:/" + id}, To: "box", State: protocol.TransferDone, EndedAt: at})
	}
	s.tellTransfers(v)
	want()
	end("a", 1)
	s.tellTransfers(v)
	s.tellTransfers(v)
	want(`show transfer-a "a to box" deny false`)
	for i := range 5 {
		end(fmt.Sprint(i), 2)
	}
	s.tellTransfers(v)
	want(`show transfer-many "5 transfers have ended" deny false`)
	s.inFront(true)
	want("remove transfer-a", "remove transfer-many")
	s.inFront(true)
	want()
	s.inFront(false)
	end("a", 3) // it was retried
	v.Finished = v.Finished[1:]
	s.tellTransfers(v)
	want(`show transfer-a "a to box" deny false`)
}

func TestTheEndOfATransferIsSaidInTheWindow(t *testing.T) {
	s := newTestShell(t)
	s.inFront(true)
	v := sample()
	end := func(id string) {
		v.Finished = append(slices.Clone(v.Finished), protocol.Transfer{ID: protocol.TransferID(id), Sources: []string{"nas:/" + id}, To: "box", State: protocol.TransferDone, EndedAt: 1})
		s.update(v)
	}
	end("a")
	pagetest.Shows(t, s.window.Content(), "a to box: Arrived")
	s.toast.Close()
	s.openNamed(transfersTitle)
	if end("c"); s.toast.Visible() {
		t.Error("it is said beside the page that shows it")
	}
}
