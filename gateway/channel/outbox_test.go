package channel_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/channel"
	"fairlead/gateway/channel/channeltest"
	"fairlead/gateway/peer/crash/crashtest"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
)

func TestAnswersGoOutOnceAndTypingAroundThem(t *testing.T) {
	b, p := open(t)
	b.Set(t, "channels.pigeon", `{"dmPolicy":"open"}`)
	b.Begin()
	start(t, b)
	up := p.Up("default")
	if _, err := up.Inbound(t.Context(), directMessage("do it twice")); err != nil {
		t.Fatal(err)
	}
	waitSent(t, p, "Let me look.", "You said twice")
	in := directMessage("fail")
	in.Peer = protocol.Peer{Kind: "group", ID: "g"}
	in.Message.ID = "m7"
	if _, err := up.Inbound(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	waitSent(t, p, "Let me look.", "You said twice", "I could not finish this: the model is asleep")
	if last := p.Sent()[2]; last.Message.ReplyToID != "m7" || last.SessionKey != "agent:main:pigeon:group:g" {
		t.Errorf("got %+v, want a reply to m7 in the group", last)
	}
	typed := func(key protocol.SessionKey) (list []bool) {
		for _, one := range p.Typed() {
			if one.SessionKey == key {
				list = append(list, one.Typing)
			}
		}
		return list
	}
	group := p.Sent()[2].SessionKey
	polltest.Until(t, "typing on and off", func() bool { return len(typed(group)) == 2 })
	if got := typed(group); !got[0] || got[1] {
		t.Errorf("got typing %v in the group, want on, off", got)
	}
	// There are no typing events if the run started before the hub subscribed.
	if got := typed(p.Sent()[0].SessionKey); len(got) > 0 && !slices.Equal(got, []bool{true, false}) {
		t.Errorf("got typing %v, want none or on, off", got)
	}
	polltest.Until(t, "the runs are forgotten", func() bool {
		runs, err := b.Store.Channels.Runs(t.Context())
		return err == nil && len(runs) == 0
	})
}

func TestAnswersSurviveARestartAndAnAbsentNetwork(t *testing.T) {
	dir := t.TempDir()
	p := channeltest.NewPigeon()
	b := channeltest.Open(t, dir, p)
	b.Set(t, "channels.pigeon", `{"dmPolicy":"open"}`)
	b.Begin()
	start(t, b)
	in := directMessage("please hold")
	in.Message.ID = "m1"
	res, err := b.Inbox.Inbound(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	b.Close()

	b = channeltest.Open(t, dir, p)
	if err := b.Answer(t.Context(), res.RunID, "Here it is."); err != nil { // before the hub subscribes
		t.Fatal(err)
	}
	if v, err := b.Secrets.Get("channel-pigeon-default-key"); err != nil || v != "k" {
		t.Errorf("got key %q, error %v, want k", v, err)
	}
	if accounts, _ := b.Store.Channels.Accounts(t.Context()); len(accounts) != 1 || accounts[0].Config["key"] != nil {
		t.Errorf("got %+v, want one account without its key", accounts)
	}
	b.Begin()
	waitSent(t, p, "Here it is.")
	if again, err := b.Inbox.Inbound(t.Context(), in); err != nil || again.Status != protocol.InboundDuplicate {
		t.Errorf("got %+v, error %v, want a duplicate", again, err)
	}
	b.Close()

	b = channeltest.Open(t, dir, p)
	b.Begin()
	t.Cleanup(b.Close)
	polltest.Until(t, "the run is forgotten", func() bool {
		runs, err := b.Store.Channels.Runs(t.Context())
		return err == nil && len(runs) == 0
	})
	waitSent(t, p, "Here it is.")
}

func TestUndeliveredMessageIsRetriedOrDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := channeltest.NewPigeon()
		b := channeltest.Open(t, t.TempDir(), p)
		b.Set(t, "channels.pigeon", `{"dmPolicy":"open"}`)
		b.Begin()
		defer b.Close()
		start(t, b)
		notices := b.Bus.SubscribeOnly(func(c protocol.Change) bool { return c.Kind == protocol.ChangeNotice })
		defer notices.Close()
		for _, peer := range []string{"rain", "wall", "ann"} {
			in := directMessage("hello")
			in.Peer.ID = peer
			if _, err := b.Inbox.Inbound(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if len(p.Sent()) != 0 {
			t.Errorf("got %v sent before the waiting messages, want none", texts(p))
		}
		time.Sleep(7 * time.Second) // 2 s, then 4 s
		synctest.Wait()
		if got := p.Sent(); len(got) != 2 || got[0].Peer.ID != "rain" || got[1].Peer.ID != "ann" {
			t.Errorf("got %+v, want rain, then ann", got)
		}
		n, err := notices.Next(t.Context())
		if err != nil || !strings.Contains(n.Notice.Text, "A message to wall on pigeon was not delivered") {
			t.Errorf("got %+v, error %v, want a notice about wall", n.Notice, err)
		}
	})
}

func TestMessageReceiverDefaultsToTheChatsPeer(t *testing.T) {
	b, _ := open(t)
	b.Set(t, "channels.pigeon", `{"dmPolicy":"open"}`)
	b.Begin()
	if _, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, channel.Outgoing{Text: "hi"}); err == nil || !strings.Contains(err.Error(), "name the channel and the receiver") {
		t.Errorf(`got %v; want an error with "name the channel and the receiver"`, err)
	}
	if _, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, channel.Outgoing{Text: "hi", Channel: "pigeon", To: "bob"}); !errors.Is(err, protocol.ErrUnavailable) {
		t.Errorf("got %v; want the error protocol.ErrUnavailable", err)
	}
	start(t, b)
	if _, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, channel.Outgoing{Text: "hi", Channel: "pigeon"}); !errors.Is(err, protocol.ErrBadRequest) {
		t.Errorf("got %v; want the error protocol.ErrBadRequest", err)
	}
	said, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, channel.Outgoing{Text: "hi", Channel: "pigeon", To: "bob"})
	if err != nil || !said.Sent || said.To != "bob" || said.AccountID != "default" || said.PeerKind != "dm" || said.MessageID != "ph" {
		t.Errorf("got %+v, error %v, want it sent to bob", said, err)
	}
	if _, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, channel.Outgoing{Text: "hi", Channel: "pigeon", To: "wall"}); err == nil || !strings.Contains(err.Error(), "there is a wall") {
		t.Errorf(`got %v; want an error with "there is a wall"`, err)
	}
	if _, err := b.Inbox.Inbound(t.Context(), directMessage("hold")); err != nil {
		t.Fatal(err)
	}
	if said, err = b.Messenger.SendMessage(t.Context(), protocol.MainSession, channel.Outgoing{Text: "by the way"}); err != nil || said.To != "ann" {
		t.Errorf("got %+v, error %v, want it sent to ann", said, err)
	}
	if l := b.Messenger.LastActive(t.Context(), "work"); l != nil {
		t.Errorf("another agent: got %+v, want none", l)
	}
	if l := b.Messenger.LastActive(t.Context(), protocol.MainAgent); l == nil || l.Peer.ID != "ann" || l.Channel != "pigeon" || l.Timestamp == 0 {
		t.Errorf("got %+v, want ann", l)
	}
}

func TestFilesGoToChannelsThatTakeThem(t *testing.T) {
	for _, ext := range [][]string{nil, {protocol.ExtMedia}} {
		b := channeltest.Open(t, t.TempDir())
		t.Cleanup(b.Close)
		b.Begin()
		link := &fakeConn{}
		p := protocol.ConnectParams{Client: protocol.ClientInfo{ID: "w", Channel: "telex"}, Extensions: ext}
		if err := channel.Name(&p); err != nil {
			t.Fatal(err)
		}
		ready, detach, err := b.Programs.Attach(p, link)
		if err != nil {
			t.Fatal(err)
		}
		ready()
		said, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, channel.Outgoing{Channel: "telex", To: "ann", Files: []protocol.Media{{Filename: "a.txt", Data: "eA=="}}})
		detach()
		switch {
		case ext == nil && (err == nil || !strings.Contains(err.Error(), "does not support files") || len(link.out) != 0):
			t.Errorf("got %+v, error %v, sent %+v, want that files are not supported", said, err, link.out)
		case ext != nil && (err != nil || !said.Sent || len(link.out) != 1 || link.out[0].Message.Media[0].Data != "eA=="):
			t.Errorf("got %+v, error %v, sent %+v, want the file sent", said, err, link.out)
		}
	}
}

func TestLaterMessageWaitsForTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := channeltest.NewPigeon()
		b := channeltest.Open(t, t.TempDir(), p)
		b.Begin()
		defer b.Close()
		words := channel.Outgoing{Text: "report", Channel: "pigeon", To: "ann", Later: true}
		if _, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, words); !errors.Is(err, protocol.ErrUnavailable) {
			t.Errorf("over an account that nobody keeps connected: %v", err)
		}
		loft := func(name string) {
			cfg := map[string]json.RawMessage{"loft": json.RawMessage(`"` + name + `"`), "key": json.RawMessage(`"k"`)}
			if _, err := b.Accounts.Start(t.Context(), protocol.ChannelStartParams{Channel: "pigeon", Config: cfg}); err != nil {
				t.Fatal(err)
			}
		}
		loft("away")
		if said, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, words); err != nil || !said.Queued || said.Sent || said.AccountID != "default" {
			t.Errorf("got %+v, error %v, want it queued", said, err)
		}
		words.Later = false
		if _, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, words); !errors.Is(err, protocol.ErrUnavailable) {
			t.Errorf("what is said now: %v", err)
		}
		loft("roof")
		synctest.Wait()
		if got := p.Sent(); len(got) != 1 || got[0].Message.Text != "report" || got[0].Peer.ID != "ann" {
			t.Errorf("got %+v, want the report to ann", got)
		}
		b.Set(t, "channels.pigeon", `{"dmPolicy":"open"}`)
		if _, err := b.Inbox.Inbound(t.Context(), directMessage("hold")); err != nil { // the chat's last sender is she now
			t.Fatal(err)
		}
		if _, err := b.Accounts.Stop(t.Context(), protocol.ChannelParams{Channel: "pigeon"}); err != nil {
			t.Fatal(err)
		}
		if said, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, channel.Outgoing{Text: "report", Later: true}); !errors.Is(err, protocol.ErrUnavailable) {
			t.Errorf("over a stopped account: got %+v, error %v, want %v", said, err, protocol.ErrUnavailable)
		}
	})
}

func TestPanicFailsOneDelivery(t *testing.T) {
	log := crashtest.Watch(t)
	synctest.Test(t, func(t *testing.T) {
		p := channeltest.NewPigeon()
		b := channeltest.Open(t, t.TempDir(), p)
		b.Set(t, "channels.pigeon", `{"dmPolicy":"open"}`)
		b.Begin()
		defer b.Close()
		start(t, b)
		for _, peer := range []string{"hawk", "ann"} {
			in := directMessage("hello")
			in.Peer.ID = peer
			if _, err := b.Inbox.Inbound(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := p.Sent(); len(got) != 2 || got[0].Peer.ID != "hawk" || got[1].Peer.ID != "ann" {
			t.Errorf("after the panic: got %+v, want both messages", got)
		}
	})
	log.Until(1, "channel delivery")
}
