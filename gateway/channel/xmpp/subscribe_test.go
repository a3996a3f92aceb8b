package xmpp

import (
	"testing"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
)

// sees waits for the next presence of the given type from the agent.
func (o *person) sees(t *testing.T, kind string) presence {
	t.Helper()
	timer := time.NewTimer(3 * time.Minute)
	defer timer.Stop()
	for {
		select {
		case p := <-o.seen:
			if p.Type == kind && bare(p.From) == "agent@town.test" {
				return p
			}
		case <-timer.C:
			t.Fatalf("%s: got no presence in time, want %q of the agent", o.name, kind)
		}
	}
}

func TestAllowedSendersSeeThePresenceOfTheAgent(t *testing.T) {
	p := startServer(t)
	ann, bob := p.person(t, "ann"), p.person(t, "bob")
	b := p.agent(t, `{"allowFrom":["ann@town.test"]}`)
	for _, o := range []*person{ann, bob} { // a server sends presence to clients that asked for it
		o.do(t, "<iq id='contacts' type='get'><query xmlns='jabber:iq:roster'/></iq>")
	}
	ann.do(t, "<presence to='agent@town.test' type='subscribe'/>")
	ann.sees(t, "subscribed")
	agent := ann.sees(t, "").From

	bob.do(t, "<presence to='agent@town.test' type='subscribe'/>")
	bob.do(t, "<iq to='"+agent+"' id='after' type='get'><ping xmlns='urn:xmpp:ping'/></iq>")
	for q := range bob.iqs { // the agent answers in order
		if q.ID == "after" {
			break
		}
	}
	for len(bob.seen) > 0 {
		if p := <-bob.seen; p.Type == "subscribed" {
			t.Error("somebody who may not write sees the agent")
		}
	}

	bob.do(t, "<message to='agent@town.test' type='chat' id='first-message'><body>hello</body></message>")
	polltest.Until(t, "the request of bob arrives", func() bool {
		pairs, err := b.Senders.Pairs(t.Context(), protocol.Empty{})
		return err == nil && len(pairs.Pairs) == 1
	})
	if _, err := b.Senders.Approve(t.Context(), auth.Owner("test"), protocol.PairParams{Channel: "xmpp", SenderID: "bob@town.test"}); err != nil {
		t.Fatal(err)
	}
	bob.do(t, "<message to='agent@town.test' type='chat' id='second-message'><body>hello again</body></message>")
	bob.sees(t, "subscribed")
}
