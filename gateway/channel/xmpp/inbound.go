package xmpp

import (
	"math"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// inbound converts a stanza to a message for the hub. ok is false for everything else: typing,
// receipts, subjects, echoes of the agent's own messages in a room, and a room's history.
func (c *client) inbound(m message) (in protocol.ChannelInboundParams, ok bool) {
	text := ""
	if len(m.Body) > 0 {
		text = m.Body[0]
	}
	from := bare(m.From)
	c.mu.Lock()
	r := c.rooms[from]
	c.mu.Unlock()
	switch {
	case from == "" || from == bare(c.s.jid) || from == c.set.domain:
		return in, false
	case m.Type == "groupchat":
		if r == nil || m.Delay != nil {
			return in, false
		}
	case r != nil, m.Type != "chat" && m.Type != "normal" && m.Type != "":
		return in, false // the sender of a private message in a room is whoever has that nickname now
	}
	if m.Request != nil && m.Type != "groupchat" && m.ID != "" {
		c.s.send("<message to='" + esc(m.From) + "' type='" + esc(m.Type) + "'><received xmlns='" + nsReceipt + "' id='" + esc(m.ID) + "'/></message>")
	}
	if m.Encrypted != nil || m.OMEMO != nil || m.PGP != nil {
		c.encrypted(m, from)
		return in, false
	}
	in.Message = protocol.ChannelMessage{ID: messageID(m, from, c.s.jid), Text: text}
	if m.Delay != nil {
		if at, err := time.Parse(time.RFC3339, m.Delay.Stamp); err == nil {
			in.Message.Timestamp = at.UnixMilli()
		}
	}
	quotes(m, &in.Message)
	files(m, &in.Message)
	place(m, &in.Message)
	if strings.TrimSpace(in.Message.Text) == "" && in.Message.Location == nil && len(in.Message.Media) == 0 {
		return in, false
	}
	if m.Type != "groupchat" {
		in.Peer = protocol.Peer{Kind: protocol.PeerDM, ID: from, Handle: from}
		in.Sender = &protocol.Sender{ID: from, Handle: from}
		return in, true
	}
	return c.fromRoom(m, from, r, in)
}

// fromRoom adds the sender of a message in a room, and whether the agent was mentioned.
func (c *client) fromRoom(m message, from string, r *room, in protocol.ChannelInboundParams) (protocol.ChannelInboundParams, bool) {
	nick := resource(m.From)
	c.mu.Lock()
	mine, jid := r.nick, r.jids[nick]
	c.mu.Unlock()
	if nick == "" || nick == mine {
		return in, false
	}
	local, _, _ := splitJID(from)
	in.Peer = protocol.Peer{Kind: protocol.PeerGroup, ID: from, Name: local, Handle: from}
	if jid == "" {
		jid = m.From // a room's address, which cannot be mistaken for a person's
	}
	in.Sender = &protocol.Sender{ID: jid, Name: nick}
	mentioned := mentions(in.Message.Text, mine) || m.Reply != nil && m.Reply.To != "" && bare(m.Reply.To) == from && resource(m.Reply.To) == mine
	in.WasMentioned = &mentioned
	if mentioned {
		in.MentionedIDs = []string{bare(c.s.jid)}
	}
	return in, true
}

// encrypted tells a sender once that the agent cannot read end-to-end encrypted messages.
func (c *client) encrypted(m message, from string) {
	if m.Type == "groupchat" {
		return
	}
	c.mu.Lock()
	told := c.told[from] || len(c.told) > 1000
	c.told[from] = true
	c.mu.Unlock()
	if !told {
		c.s.send("<message to='" + esc(from) + "' type='chat'><body>I cannot read encrypted messages. Please switch encryption (OMEMO) off for this chat.</body></message>")
	}
}

// messageID returns the ID that the room or the account's server assigned to a message (XEP-0359),
// otherwise the sender's ID if it is long enough to be unique: some clients restart at one.
func messageID(m message, from, own string) string {
	by := bare(own)
	if m.Type == "groupchat" {
		by = from
	}
	for _, o := range m.Origins {
		if bare(o.By) == by && o.ID != "" {
			return o.ID
		}
	}
	if len(m.ID) < 8 {
		return ""
	}
	return m.ID
}

// quotes removes the quotation that clients put before a reply from its text (XEP-0461).
func quotes(m message, to *protocol.ChannelMessage) {
	if m.Reply == nil {
		return
	}
	to.ReplyToID = m.Reply.ID
	lines := strings.Split(to.Text, "\n")
	n := 0
	var quoted []string
	for n < len(lines) && strings.HasPrefix(lines[n], ">") {
		quoted = append(quoted, strings.TrimSpace(strings.TrimPrefix(lines[n], ">")))
		n++
	}
	if n > 0 {
		to.ReplyToText = strings.Join(quoted, "\n")
		to.Text = strings.Join(lines[n:], "\n")
	}
}

// place parses a place from its element (XEP-0080), or from a text that is a geo: address (RFC
// 5870).
func place(m message, to *protocol.ChannelMessage) {
	if g := m.Geo; g != nil && legal(g.Lat, g.Lon) {
		to.Location = &protocol.Location{Lat: g.Lat, Lon: g.Lon, Name: g.Text}
		return
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(to.Text), "geo:")
	if !ok {
		return
	}
	rest, _, _ = strings.Cut(rest, ";")
	rest, _, _ = strings.Cut(rest, "?")
	f := strings.Split(rest, ",")
	if len(f) < 2 {
		return
	}
	lat, err1 := strconv.ParseFloat(f[0], 64)
	lon, err2 := strconv.ParseFloat(f[1], 64)
	if err1 == nil && err2 == nil && legal(lat, lon) {
		to.Location, to.Text = &protocol.Location{Lat: lat, Lon: lon}, ""
	}
}

func legal(lat, lon float64) bool { return math.Abs(lat) <= 90 && math.Abs(lon) <= 180 }
