package xmpp

import (
	"errors"
	"testing"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/crash/crashtest"
	"fairlead/gateway/protocol"
)

func TestPanicFailsOneMessage(t *testing.T) {
	log := crashtest.Watch(t)
	var wg crash.Group
	i := &inbox{c: newClient(nil, settings{}, nil), wg: &wg, slots: make(chan struct{}, 1)} // nothing to pass messages to
	in := protocol.ChannelInboundParams{Peer: protocol.Peer{Kind: protocol.PeerDM, ID: "ann"}}
	if _, ok := errors.AsType[*crash.Error](i.accept(t.Context(), in)); !ok {
		t.Error("a message that panics: got no error")
	}
	for range 3 { // each waits for the one before
		if err := i.put(t.Context(), in); err != nil {
			t.Errorf("after a panic: got error %v, want none", err)
		}
	}
	wg.Wait()
	log.Until(4, "channel message")
}
