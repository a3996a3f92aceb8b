package channel_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/channel/channeltest"
	"fairlead/gateway/protocol"
)

func TestUnknownSendersAreLimitedAndExpireAfterAWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := open(t)
		for i := range 101 {
			in := directMessage("hello")
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
		_, err := b.Senders.Approve(t.Context(), auth.Owner("test"), protocol.PairParams{Channel: "pigeon", SenderID: "stranger7"})
		if !errors.Is(err, protocol.ErrNotFound) {
			t.Errorf("one who is not listed any more is let in: %v", err)
		}
		if res, err := b.Inbox.Inbound(t.Context(), directMessage("hello")); err != nil || res.Status != protocol.InboundPending {
			t.Errorf("got %+v, error %v, want %s", res, err, protocol.InboundPending)
		}
	})
}

func TestTextOfAnUnknownSenderIsOneVisibleLine(t *testing.T) {
	b, _ := open(t)
	in := directMessage("I am\n\n\u202eallowed\u2066 already")
	in.Peer.ID, in.Peer.Name = "mallory", "Ann\x1b[2J\n\u202e"
	if _, err := b.Inbox.Inbound(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	list, err := b.Senders.Pairs(t.Context(), protocol.Empty{})
	if p := list.Pairs["pigeon:mallory"]; err != nil || p.SenderName != "Ann" || p.FirstMessage != "I am allowed already" {
		t.Errorf("got %+v, error %v, want mallory's first message", list.Pairs, err)
	}
}

func TestSenderApprovalIsInTheAuditLog(t *testing.T) {
	b, _ := open(t)
	for _, id := range []string{"ann", "bob"} {
		in := directMessage("hello")
		in.Peer.ID = id
		if _, err := b.Inbox.Inbound(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Senders.Approve(t.Context(), auth.Owner("w"), protocol.PairParams{Channel: "pigeon", SenderID: "ann"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Senders.Reject(t.Context(), auth.Owner("w"), protocol.PairParams{Channel: "pigeon", SenderID: "bob"}); err != nil {
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

// senderQuestion returns the only question about a stranger.
func senderQuestion(t *testing.T, b *channeltest.Bench) protocol.Question {
	t.Helper()
	list, err := b.Questions.Pending(t.Context())
	if err != nil || len(list) != 1 || list[0].Kind != protocol.AskSender {
		t.Fatalf("questions: got %+v, %v, want one about a stranger", list, err)
	}
	return list[0]
}

func answer(q protocol.Question, decision string) protocol.QuestionAnswerParams {
	return protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: decision}
}

// A stranger is a question like every other: one, however often they write; it survives a restart;
// the first answer wins, whichever method gives it, and leaves one line in the audit log.
func TestUnknownSenderIsOneQuestion(t *testing.T) {
	dir := t.TempDir()
	b := channeltest.Open(t, dir)
	for range 2 {
		in := directMessage("hello")
		in.Peer.ID = "ann"
		if res, err := b.Inbox.Inbound(t.Context(), in); err != nil || res.Status != protocol.InboundPending {
			t.Fatalf("message of a stranger: got %+v, %v; want no error and Status InboundPending", res, err)
		}
	}
	old := senderQuestion(t, b)
	b.Close()
	b = channeltest.Open(t, dir)
	defer b.Close()
	q := senderQuestion(t, b)
	if q.ID != old.ID || q.Hash != old.Hash || q.ExpiresAt/60_000 > old.ExpiresAt/60_000+1 || q.Sender.FirstMessage != "hello" {
		t.Errorf("question after a restart: got %+v, want %+v", q, old)
	}
	if _, err := b.Questions.Answer(t.Context(), auth.Device(protocol.Device{Role: protocol.RoleClient, Scopes: []protocol.Scope{protocol.ScopeApprove}}), answer(q, protocol.DecisionAllow)); !errors.Is(err, protocol.ErrForbidden) {
		t.Errorf("answer of a device that does not administer: got %v, want %v", err, protocol.ErrForbidden)
	}
	if r, err := b.Questions.Answer(t.Context(), auth.Owner("w"), answer(q, protocol.DecisionAllow)); err != nil || !r.Won {
		t.Fatalf("answer: got %+v, %v; want no error and Won", r, err)
	}
	if _, err := b.Senders.Reject(t.Context(), auth.Owner("late"), protocol.PairParams{Channel: "pigeon", SenderID: "ann"}); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("late answer: got %v, want %v", err, protocol.ErrNotFound)
	}
	if got := b.Config.Get().Channels["pigeon"].AllowFrom; !slices.Equal(got, []string{"ann"}) {
		t.Errorf("who may write: got %v, want ann", got)
	}
	log, _, err := b.Store.Audit.List(t.Context(), protocol.AuditListParams{Kind: protocol.AuditSender, Limit: 10})
	if err != nil || len(log) != 1 || log[0].Approval != q.ID || log[0].By != "owner w" {
		t.Errorf("audit log: got %+v, %v, want one line with the question", log, err)
	}
}

// The greeting to a stranger and the question about them are stored together: nobody is greeted
// about whom the person is not asked, whenever the gateway stops.
func TestGreetingIsStoredWithItsQuestion(t *testing.T) {
	for _, write := range []string{"INSERT ON questions", "INSERT ON channel_outbox"} {
		t.Run(write, func(t *testing.T) {
			dir := t.TempDir()
			b := channeltest.Open(t, dir)
			allowWrites := refuseWrites(t, dir, write)
			if res, err := b.Inbox.Inbound(t.Context(), directMessage("hello")); err == nil {
				t.Errorf("message that cannot be stored: got %+v, want an error", res)
			}
			allowWrites()
			b.Close()
			b = channeltest.Open(t, dir)
			defer b.Close()
			if list, err := b.Questions.Pending(t.Context()); err != nil || len(list) != 0 {
				t.Errorf("questions after a restart: got %+v, %v, want none", list, err)
			}
			if got := notices(t, b); len(got) != 0 {
				t.Errorf("greetings after a restart: got %q, want none", got)
			}
			if _, err := b.Inbox.Inbound(t.Context(), directMessage("hello")); err != nil {
				t.Fatal(err)
			}
			senderQuestion(t, b)
			if got := notices(t, b); len(got) != 1 {
				t.Errorf("greetings after another message: got %q, want one", got)
			}
		})
	}
}

// An answer that could not be stored is given again after a restart: the stranger gets one notice,
// and the audit log has one line.
func TestSenderAnswerRepeatedAfterRestartHasOneEffect(t *testing.T) {
	dir := t.TempDir()
	b := channeltest.Open(t, dir)
	if _, err := b.Inbox.Inbound(t.Context(), directMessage("hello")); err != nil {
		t.Fatal(err)
	}
	notices(t, b)
	allowWrites := refuseWrites(t, dir, "UPDATE ON questions")
	if r, err := b.Questions.Answer(t.Context(), auth.Owner("w"), answer(senderQuestion(t, b), protocol.DecisionAllow)); err == nil {
		t.Errorf("answer that cannot be stored: got %+v, want an error", r)
	}
	allowWrites()
	b.Close()
	b = channeltest.Open(t, dir)
	defer b.Close()
	if r, err := b.Questions.Answer(t.Context(), auth.Owner("w"), answer(senderQuestion(t, b), protocol.DecisionAllow)); err != nil || !r.Won {
		t.Fatalf("second answer: got %+v, %v, want it to win", r, err)
	}
	if got := notices(t, b); len(got) != 1 {
		t.Errorf("notices: got %q, want one", got)
	}
	if got := b.Config.Get().Channels["pigeon"].AllowFrom; !slices.Equal(got, []string{"ann"}) {
		t.Errorf("who may write: got %q, want ann", got)
	}
	log, _, err := b.Store.Audit.List(t.Context(), protocol.AuditListParams{Kind: protocol.AuditSender, Limit: 10})
	if err != nil || len(log) != 1 {
		t.Errorf("audit log: got %+v, %v, want one line", log, err)
	}
}

// Strangers whom the person denies do not ask at once, without end.
func TestDeniedSendersAskAgainLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := open(t)
		in := directMessage("hello")
		var last protocol.ChannelInboundResult
		for i := range 101 {
			var err error
			in.Peer.ID = fmt.Sprint("stranger", i)
			if last, err = b.Inbox.Inbound(t.Context(), in); err != nil || last.Status != protocol.InboundPending {
				break
			}
			if _, err := b.Senders.Reject(t.Context(), auth.Owner("w"), protocol.PairParams{Channel: "pigeon", SenderID: in.Peer.ID}); err != nil {
				t.Fatal(err)
			}
		}
		if last.Status != protocol.InboundBlocked || !strings.Contains(last.Reason, "too many people") {
			t.Errorf("after 100 denials: got %+v, want %s", last, protocol.InboundBlocked)
		}
		time.Sleep(time.Minute)
		if res, err := b.Inbox.Inbound(t.Context(), in); err != nil || res.Status != protocol.InboundPending {
			t.Errorf("a minute later: got %+v, %v, want %s", res, err, protocol.InboundPending)
		}
	})
}
