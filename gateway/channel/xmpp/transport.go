package xmpp

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"fairlead/gateway/channel"
	"fairlead/gateway/protocol"
)

// transport sends over a client.
type transport struct{ c *client }

// Send implements channel.Transport.
func (t transport) Send(ctx context.Context, m protocol.ChannelOutbound) (string, error) {
	to, kind, err := t.address(m.Peer)
	if err != nil {
		return "", err
	}
	// Uploads come first: if one fails, the hub sends the whole message again.
	files, err := t.c.upload(ctx, m.Message.Media)
	if err != nil {
		return "", err
	}
	var texts []string
	if m.Message.Text != "" || len(files) == 0 {
		texts = parts(m.Message.Text, maxBody)
	}
	id := ""
	for i, part := range append(texts, files...) {
		id = protocol.NewID()
		extra := ""
		if m.Message.ReplyToID != "" && i == 0 {
			extra = "<reply xmlns='" + nsReply + "' id='" + esc(m.Message.ReplyToID) + "'/>"
		}
		if i >= len(texts) {
			extra += "<x xmlns='jabber:x:oob'><url>" + esc(part) + "</url></x>"
		}
		text := "<message to='" + esc(to) + "' type='" + kind + "' id='" + id + "'><body>" + esc(part) + "</body>" + extra + "<active xmlns='" + nsStates + "'/></message>"
		if err := t.c.ask(ctx, id, text); err != nil {
			return "", err
		}
	}
	return id, nil
}

// Typing implements channel.Transport.
func (t transport) Typing(_ context.Context, y protocol.ChannelTyping) error {
	to, kind, err := t.address(y.Peer)
	if err != nil {
		return err
	}
	state := "paused"
	if y.Typing {
		state = "composing"
	}
	return t.c.s.send("<message to='" + esc(to) + "' type='" + kind + "'><" + state + " xmlns='" + nsStates + "'/><no-store xmlns='urn:xmpp:hints'/></message>")
}

func (t transport) address(p protocol.Peer) (to, kind string, err error) {
	if _, _, ok := splitJID(p.ID); !ok {
		return "", "", channel.NewRefusal("%q is not an XMPP address", p.ID)
	}
	if p.Kind == protocol.PeerDM {
		return p.ID, "chat", nil
	}
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	r := t.c.rooms[bare(p.ID)]
	switch {
	case r == nil:
		return "", "", channel.NewRefusal("the agent is not in the room %s: add it to the account's rooms", bare(p.ID))
	case !r.joined:
		return "", "", fmt.Errorf("the agent has not entered the room %s", bare(p.ID))
	}
	return bare(p.ID), "groupchat", nil
}

// parts splits a text into pieces of at most n bytes, at the end of a line where possible.
func parts(s string, n int) []string {
	var list []string
	for len(s) > n {
		i := strings.LastIndexByte(s[:n], '\n')
		if i < n/2 {
			for i = n; !utf8.RuneStart(s[i]); i-- {
			}
		}
		list = append(list, s[:i])
		s = strings.TrimPrefix(s[i:], "\n")
	}
	return append(list, s)
}
