package xmpp

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/channel"
	"fairlead/gateway/channel/channeltest"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
)

func TestDirectMessagesOverARealServer(t *testing.T) {
	p := startServer(t)
	ann := p.person(t, "ann")
	b := p.agent(t, `{}`)
	ann.do(t, "<message to='agent@town.test' type='chat' id='first-message'><body>hello</body></message>")
	ann.hears(t, "that she is not known yet", func(m message) bool { return len(m.Body) > 0 && strings.Contains(m.Body[0], "do not know you yet") })
	pairs, err := b.Senders.Pairs(t.Context(), protocol.Empty{})
	if err != nil || pairs.Pairs["xmpp:ann@town.test"].FirstMessage != "hello" {
		t.Fatalf("got %+v, error %v, want ann's first message", pairs, err)
	}
	if _, err := b.Senders.Approve(t.Context(), auth.Owner("test"), protocol.PairParams{Channel: "xmpp", SenderID: "ann@town.test"}); err != nil {
		t.Fatal(err)
	}
	ann.hearsText(t, "You may write to me now.")

	ann.do(t, "<message to='agent@town.test' type='chat' id='second-message'><body>3 &lt; 5 &amp; \"so\" on</body><request xmlns='urn:xmpp:receipts'/></message>")
	got := map[string]bool{}
	for !got["receipt"] || !got["composing"] || !got["answer"] || !got["paused"] {
		ann.hears(t, fmt.Sprintf("all of it, only %v", got), func(m message) bool {
			switch {
			case m.Received != nil && m.Received.ID == "second-message":
				got["receipt"] = true
			case m.Composing != nil:
				got["composing"] = true
			case m.Paused != nil:
				got["paused"] = true
			case len(m.Body) > 0 && m.Body[0] == "You said on":
				got["answer"] = true
			default:
				return false
			}
			return true
		})
	}
	sent := b.Sent()
	if len(sent) != 1 || !strings.HasSuffix(sent[0].Message, "] 3 < 5 & \"so\" on") || sent[0].By != "channel xmpp ann@town.test" {
		t.Errorf("got %+v, want one message of ann", sent)
	}

	ann.do(t, "<message to='agent@town.test' type='chat' id='third-message'><body>&gt; You said on\nreally hold</body><reply xmlns='urn:xmpp:reply:0' id='x'/>"+
		"<geoloc xmlns='http://jabber.org/protocol/geoloc'><lat>52.5</lat><lon>13.4</lon></geoloc><x xmlns='jabber:x:oob'><url>https://files.test/a.png</url></x></message>")
	polltest.Until(t, "the reply", func() bool { return len(b.Sent()) == 2 })
	text := b.Sent()[1].Message
	if !strings.Contains(text, "\n[in reply to: You said on]\nreally hold\n[location: 52.500000, 13.400000]\n[image a.png, image/png, at https://files.test/a.png; it was not fetched: files are fetched only from the account's own server; to allow files.test too, add it to the account's settings]") {
		t.Errorf("got %q, want the quote, the position and the picture", text)
	}
	ann.do(t, "<message to='agent@town.test' type='chat' id='fourth-message'><body>This is OMEMO</body><encrypted xmlns='eu.siacs.conversations.axolotl'/></message>")
	ann.hears(t, "about encryption", func(m message) bool { return len(m.Body) > 0 && strings.Contains(m.Body[0], "cannot read encrypted") })

	said, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, channel.Outgoing{Text: strings.Repeat("ä line\n", 8000)})
	if err != nil || !said.Sent || said.MessageID == "" {
		t.Fatalf("got %+v, error %v, want it sent", said, err)
	}
	long := ""
	for len(long) < 8*8000-1 {
		m := ann.hears(t, "a part of a long text", func(m message) bool { return len(m.Body) > 0 && strings.HasPrefix(m.Body[0], "ä line") })
		long += m.Body[0] + "\n"
	}
	if strings.Count(long, "ä line") != 8000 {
		t.Errorf("got %d lines, want 8000", strings.Count(long, "ä line"))
	}
	if _, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, channel.Outgoing{Text: "hi", Channel: "xmpp", To: "nobody@town.test"}); err == nil || !strings.Contains(err.Error(), "not delivered") {
		t.Errorf("a message to nobody: %v", err)
	}
	if _, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, channel.Outgoing{Text: "hi", Channel: "xmpp", To: "not an address"}); err == nil || !strings.Contains(err.Error(), "not an XMPP address") {
		t.Errorf("got error %v, want that it is not an XMPP address", err)
	}
	ann.do(t, "<iq to='"+agentAddress(t, b)+"' id='v1' type='get'><query xmlns='jabber:iq:version'/></iq>")
}

func agentAddress(t *testing.T, b *channeltest.Bench) string {
	t.Helper()
	st, err := b.Accounts.Status(t.Context(), protocol.ChannelParams{Channel: "xmpp"})
	if err != nil || len(st.Accounts) != 1 || !st.Accounts[0].Connected || !st.Accounts[0].Authenticated {
		t.Fatalf("got %+v, error %v, want one connected account", st, err)
	}
	return st.Accounts[0].Extra["jid"].(string)
}

func TestRoomsOverARealServer(t *testing.T) {
	p := startServer(t)
	ann := p.person(t, "ann")
	// Somebody already has the nickname, so the agent takes another one.
	ann.do(t, "<presence to='square@rooms.town.test/agent'><x xmlns='http://jabber.org/protocol/muc'/></presence>")
	ann.hears(t, "the room's subject", func(m message) bool { return m.Subject != nil })
	ann.do(t, "<message to='square@rooms.town.test' type='groupchat' id='before-all'><body>agent_: before you came</body></message>")
	ann.hearsText(t, "agent_: before you came")
	b := p.agent(t, `{"dmPolicy":"allowlist","allowFrom":["square@rooms.town.test"]}`)
	for in := false; !in; {
		select {
		case pr := <-ann.seen:
			in = resource(pr.From) == "agent_" && pr.Type == ""
		case <-time.After(3 * time.Minute):
			t.Fatal("the agent did not enter the room")
		}
	}
	say := func(id, text string) {
		ann.do(t, "<message to='square@rooms.town.test' type='groupchat' id='"+id+"'><body>"+text+"</body></message>")
		ann.hearsText(t, text)
	}
	say("not-for-you-1", "lovely weather")
	say("not-for-you-2", "agent_x is somebody else")
	say("for-you-1", "Agent_: shall we go hold")
	polltest.Until(t, "a message", func() bool { return len(b.Sent()) > 0 })
	sent := b.Sent()[0]
	if sent.SessionKey != "agent:main:xmpp:group:square@rooms.town.test" || !strings.Contains(sent.Message, " · agent (ann@town.test)] Agent_: shall we go hold") {
		t.Errorf("got %+v, want a message of the room", sent)
	}
	if err := b.Answer(t.Context(), sent.RunID, "Let us go."); err != nil {
		t.Fatal(err)
	}
	m := ann.hearsText(t, "Let us go.")
	if resource(m.From) != "agent_" || m.Reply == nil || m.Reply.ID == "" {
		t.Errorf("got %+v, want a reply", m)
	}
	ann.do(t, "<message to='square@rooms.town.test/agent_' type='chat' id='private-1'><body>psst</body></message>")
	say("for-you-2", "and you, agent_?")
	polltest.Until(t, "a second message", func() bool { return len(b.Sent()) > 1 })
	if sent := b.Sent(); len(sent) != 2 || strings.Contains(sent[1].Message, "psst") {
		t.Errorf("got %+v, want two messages without the private one", sent)
	}
	if _, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, channel.Outgoing{Text: "hi", Channel: "xmpp", To: "other@rooms.town.test", Kind: "group"}); err == nil || !strings.Contains(err.Error(), "not in the room") {
		t.Errorf("got error %v, want that it is not in the room", err)
	}
}

func TestRoomThatCannotBeEnteredIsReported(t *testing.T) {
	p := startServer(t)
	ann := p.person(t, "ann")
	ann.do(t, "<presence to='square@rooms.town.test/ann'><x xmlns='http://jabber.org/protocol/muc'/></presence>")
	ann.hears(t, "the room's subject", func(m message) bool { return m.Subject != nil })
	members := func(only string) {
		ann.do(t, "<iq to='square@rooms.town.test' type='set' id='"+only+"'><query xmlns='http://jabber.org/protocol/muc#owner'><x xmlns='jabber:x:data' type='submit'>"+
			"<field var='FORM_TYPE'><value>http://jabber.org/protocol/muc#roomconfig</value></field><field var='muc#roomconfig_membersonly'><value>"+only+"</value></field></x></query></iq>")
		for q := range ann.iqs {
			if q.ID == only {
				return
			}
		}
	}
	members("1")
	b := p.agent(t, `{}`)
	is := func(want string) {
		t.Helper()
		polltest.Until(t, "the account's trouble to be "+want, func() bool {
			st, err := b.Accounts.Status(t.Context(), protocol.ChannelParams{Channel: "xmpp"})
			return err == nil && st.Accounts[0].Connected && st.Accounts[0].Error == want
		})
	}
	is("the agent is not in the room square@rooms.town.test: only its members may enter")
	members("0")
	if _, err := b.Accounts.Stop(t.Context(), protocol.ChannelParams{Channel: "xmpp"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Accounts.Start(t.Context(), protocol.ChannelStartParams{Channel: "xmpp"}); err != nil {
		t.Fatal(err)
	}
	is("")
}

func TestLoginOverARealServer(t *testing.T) {
	p := startServer(t)
	b := channeltest.Open(t, t.TempDir(), Driver{})
	t.Cleanup(b.Close)
	b.Begin()
	cfg := raw(t, "jid", "agent@town.test", "password", "wrong", "server", p.addr, "certificate", p.cert)
	if _, err := b.Accounts.Login(t.Context(), protocol.ChannelLoginParams{Channel: "xmpp", Config: cfg}); !errors.Is(err, protocol.ErrBadRequest) || err.Error() != "cannot log in: the server refused the address or the password" {
		t.Errorf("got error %v, want that the password was refused", err)
	}
	if _, err := b.Accounts.Login(t.Context(), protocol.ChannelLoginParams{Channel: "xmpp", Config: raw(t, "password", "secret of agent", "certificate", otherCertificate(t))}); !errors.Is(err, protocol.ErrUnavailable) || !strings.Contains(err.Error(), "certificate is not trusted, so the password was not sent (x509: ") {
		t.Errorf("a server that cannot be trusted: %v", err)
	}
	res, err := b.Accounts.Login(t.Context(), protocol.ChannelLoginParams{Channel: "xmpp", Config: raw(t, "certificate", p.cert)})
	if err != nil || res.Message != "agent@town.test can log in." {
		t.Errorf("got %+v, error %v, want that it can log in", res, err)
	}
	for _, mechanism := range []string{"SCRAM-SHA-1", "PLAIN"} {
		t.Run(mechanism, func(t *testing.T) { // the test above used SCRAM-SHA-256
			s := mustOpen(t, p)
			err := s.authenticate([]string{mechanism}, login{local: "ann", password: "secret of ann"})
			if err != nil {
				t.Errorf("%s: %v", mechanism, err)
			}
			s.conn.Close()
		})
	}
	s := mustOpen(t, p)
	if err := s.authenticate([]string{"X-OTHER"}, login{}); !errors.Is(err, channel.ErrLogin) {
		t.Errorf("got %v; want the error channel.ErrLogin", err)
	}
	if _, err := b.Accounts.Start(t.Context(), protocol.ChannelStartParams{Channel: "xmpp"}); err != nil {
		t.Fatal(err)
	}
	ann := p.person(t, "ann")
	b.Set(t, "channels.xmpp", `{"dmPolicy":"open"}`)
	ann.do(t, "<message to='agent@town.test' type='chat' id='before-a-restart'><body>one</body></message>")
	ann.hearsText(t, "You said one")

	p.stop()
	polltest.Until(t, "the end of the connection", func() bool {
		st, err := b.Accounts.Status(t.Context(), protocol.ChannelParams{Channel: "xmpp"})
		ended := err == nil && !st.Accounts[0].Connected && st.Accounts[0].Error != ""
		// Seconds later it has tried to connect again, and shows that error.
		if ended && st.Accounts[0].Error != "the server closed the connection" && !strings.Contains(st.Accounts[0].Error, "refused") {
			t.Errorf("got error %q, want that the server closed the connection", st.Accounts[0].Error)
		}
		return ended
	})
	p.start(t)
	polltest.Until(t, "a new connection", func() bool {
		st, err := b.Accounts.Status(t.Context(), protocol.ChannelParams{Channel: "xmpp"})
		return err == nil && st.Accounts[0].Connected
	})
	ann = p.person(t, "ann")
	ann.do(t, "<message to='agent@town.test' type='chat' id='after-a-restart'><body>two</body></message>")
	ann.hearsText(t, "You said two")
	if _, err := b.Accounts.Stop(t.Context(), protocol.ChannelParams{Channel: "xmpp"}); err != nil {
		t.Error(err)
	}
	if list, err := b.Accounts.List(t.Context(), protocol.Empty{}); err != nil || list.Count != 0 {
		t.Errorf("got %+v, error %v, want no accounts", list, err)
	}
	if _, err := b.Accounts.Logout(t.Context(), protocol.ChannelParams{Channel: "xmpp"}); err != nil {
		t.Error(err)
	}
	if _, err := b.Secrets.Get("channel-xmpp-default-password"); err == nil {
		t.Error("the password is still known")
	}
}
