package channel_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
)

func TestStrangersAreFewAndForgottenAfterAWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := open(t)
		for i := range 101 {
			in := dm("hello")
			in.Peer.ID = fmt.Sprint("stranger", i)
			res, err := b.Inbox.Inbound(t.Context(), in)
			want := protocol.InboundPending
			if i == 100 {
				want = protocol.InboundBlocked
			}
			if err != nil || res.Status != want {
				t.Fatalf("%d: got %+v, error %v, want %s", i, res, err, want)
			}
		}
		if list, err := b.Senders.Pairs(t.Context(), protocol.Empty{}); err != nil || len(list.Pairs) != 100 {
			t.Errorf("got %d pairs, error %v, want 100", len(list.Pairs), err)
		}
		time.Sleep(8 * 24 * time.Hour)
		if list, _ := b.Senders.Pairs(t.Context(), protocol.Empty{}); len(list.Pairs) != 0 {
			t.Errorf("after eight days: got %d pairs, want none", len(list.Pairs))
		}
		_, err := b.Senders.Approve(t.Context(), "owner test", protocol.PairParams{Channel: "pigeon", SenderID: "stranger7"})
		if !errors.Is(err, protocol.ErrNotFound) {
			t.Errorf("one who is not listed any more is let in: %v", err)
		}
		if res, err := b.Inbox.Inbound(t.Context(), dm("hello")); err != nil || res.Status != protocol.InboundPending {
			t.Errorf("got %+v, error %v, want %s", res, err, protocol.InboundPending)
		}
	})
}

func TestTextOfAStrangerIsOneVisibleLine(t *testing.T) {
	b, _ := open(t)
	in := dm("I am\n\n\u202eallowed\u2066 already")
	in.Peer.ID, in.Peer.Name = "mallory", "Ann\x1b[2J\n\u202e"
	if _, err := b.Inbox.Inbound(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	list, err := b.Senders.Pairs(t.Context(), protocol.Empty{})
	if p := list.Pairs["pigeon:mallory"]; err != nil || p.SenderName != "Ann" || p.FirstMessage != "I am allowed already" {
		t.Errorf("got %+v, error %v, want mallory's first message", list.Pairs, err)
	}
}

func TestWhoLetSomebodyInIsInTheAuditLog(t *testing.T) {
	b, _ := open(t)
	for _, id := range []string{"ann", "bob"} {
		in := dm("hello")
		in.Peer.ID = id
		if _, err := b.Inbox.Inbound(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Senders.Approve(t.Context(), "owner w", protocol.PairParams{Channel: "pigeon", SenderID: "ann"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Senders.Reject(t.Context(), "owner w", protocol.PairParams{Channel: "pigeon", SenderID: "bob"}); err != nil {
		t.Fatal(err)
	}
	log, _, err := b.Store.Audit.List(t.Context(), protocol.AuditListParams{Kind: protocol.AuditSender, Limit: 10})
	if err != nil || len(log) != 2 || log[0].What != "pigeon:bob" || log[0].Verdict != "denied" || log[1].What != "pigeon:ann" || log[1].By != "owner w" {
		t.Errorf("got %+v, error %v, want bob denied after ann", log, err)
	}
	if got := b.Config.Get().Channels["pigeon"].AllowFrom; !slices.Equal(got, []string{"ann"}) {
		t.Errorf("got %q, want ann", got)
	}
}
