package xmpp

import (
	"cmp"
	"math"
	"mime"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// inbound converts a stanza to a message for the hub. ok is false for everything else: typing,
// receipts, subjects, echoes of the agent's own messages, and a room's history.
func (c *client) inbound(m message) (in protocol.ChannelInboundParams, ok bool) {
	text := strings.Join(m.Body[:min(len(m.Body), 1)], "")
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
		c.refuseEncrypted(m, from)
		return in, false
	}
	in.Message = protocol.ChannelMessage{ID: messageID(m, from, c.s.jid), Text: text}
	if m.Delay != nil {
		if at, err := time.Parse(time.RFC3339, m.Delay.Stamp); err == nil {
			in.Message.Timestamp = at.UnixMilli()
		}
	}
	splitQuotation(m, &in.Message)
	files(m, &in.Message)
	addLocation(m, &in.Message)
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
	// A room's address cannot be mistaken for a person's.
	in.Sender = &protocol.Sender{ID: cmp.Or(jid, m.From), Name: nick}
	mentioned := mentions(in.Message.Text, mine) || m.Reply != nil && m.Reply.To != "" && bare(m.Reply.To) == from && resource(m.Reply.To) == mine
	in.WasMentioned = &mentioned
	if mentioned {
		in.MentionedIDs = []string{bare(c.s.jid)}
	}
	return in, true
}

// refuseEncrypted tells a sender once that the agent cannot read end-to-end encrypted messages.
func (c *client) refuseEncrypted(m message, from string) {
	if m.Type == "groupchat" {
		return
	}
	c.mu.Lock()
	warned := c.warned[from] || len(c.warned) > 1000
	c.warned[from] = true
	c.mu.Unlock()
	if !warned {
		c.say(from, "chat", "I cannot read encrypted messages. Please switch encryption (OMEMO) off for this chat.")
	}
}

// messageID returns the ID that the room or the server assigned to a message (XEP-0359), otherwise
// the sender's ID if it is long enough to be unique: some clients restart at one.
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

// splitQuotation removes the quotation that clients put before a reply from its text (XEP-0461).
func splitQuotation(m message, to *protocol.ChannelMessage) {
	if m.Reply == nil {
		return
	}
	to.ReplyToID = m.Reply.ID
	var quoted []string
	for strings.HasPrefix(to.Text, ">") {
		line, rest, _ := strings.Cut(to.Text, "\n")
		quoted = append(quoted, strings.TrimSpace(line[1:]))
		to.Text = rest
	}
	to.ReplyToText = strings.Join(quoted, "\n")
}

// addLocation parses a place (XEP-0080), or a text that is a geo: address (RFC 5870).
func addLocation(m message, to *protocol.ChannelMessage) {
	if g := m.Geo; g != nil && isPosition(g.Lat, g.Lon) {
		to.Location = &protocol.Location{Lat: g.Lat, Lon: g.Lon, Name: g.Text}
		return
	}
	f := geoAddress.FindStringSubmatch(strings.TrimSpace(to.Text))
	if f == nil {
		return
	}
	lat, err1 := strconv.ParseFloat(f[1], 64)
	lon, err2 := strconv.ParseFloat(f[2], 64)
	if err1 == nil && err2 == nil && isPosition(lat, lon) {
		to.Location, to.Text = &protocol.Location{Lat: lat, Lon: lon}, ""
	}
}

var geoAddress = regexp.MustCompile(`^geo:(-?[\d.]+),(-?[\d.]+)([,;?]\S*)?$`)

func isPosition(lat, lon float64) bool { return math.Abs(lat) <= 90 && math.Abs(lon) <= 180 }

// sharing describes a file and its sources (XEP-0385 media sharing, XEP-0447 file sharing).
type sharing struct {
	Name string   `xml:"file>name"`
	Type string   `xml:"file>media-type"`
	URLs []source `xml:"sources>url-data"`
	Refs []source `xml:"sources>reference"`
}

// source is a source of a file; its address is in one of the two attributes.
type source struct {
	Target string `xml:"target,attr"`
	URI    string `xml:"uri,attr"`
}

// reference is a reference in a message (XEP-0372).
type reference struct {
	Media *sharing `xml:"urn:xmpp:sims:1 media-sharing"`
}

// files extracts the addresses of files: plain (XEP-0066), with a description (XEP-0385, XEP-0447),
// or as an aesgcm: address that is the whole text. Clients repeat the address as the text.
func files(m message, to *protocol.ChannelMessage) {
	for _, s := range m.Sharing {
		s.add(to)
	}
	for _, r := range m.References {
		if r.Media != nil {
			r.Media.add(to)
		}
	}
	for _, at := range m.OOB {
		add(to, at, "", "")
	}
	if text := strings.TrimSpace(to.Text); strings.HasPrefix(text, "aesgcm://") && !strings.ContainsAny(text, " \n") {
		add(to, text, "", "")
	}
}

// add adds the first of the file's sources that is a web address.
func (s sharing) add(to *protocol.ChannelMessage) {
	for _, from := range append(s.URLs, s.Refs...) {
		if add(to, cmp.Or(from.Target, from.URI), s.Name, s.Type) {
			return
		}
	}
}

// add adds a file once, and removes the text if it is its address. It returns false for other
// addresses.
func add(to *protocol.ChannelMessage, at, name, kind string) bool {
	at = strings.TrimSpace(at)
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "aesgcm" {
		return false
	}
	if strings.TrimSpace(to.Text) == at {
		to.Text = ""
	}
	if slices.ContainsFunc(to.Media, func(m protocol.Media) bool { return m.URL == at }) {
		return true
	}
	if name = path.Base(strings.TrimSpace(name)); name == "." || name == "/" {
		name = path.Base(u.Path)
	}
	kind, _, _ = strings.Cut(cmp.Or(kind, mime.TypeByExtension(path.Ext(name))), ";")
	major, _, _ := strings.Cut(kind, "/")
	if !slices.Contains([]string{"image", "audio", "video"}, major) {
		major = "document"
	}
	to.Media = append(to.Media, protocol.Media{Type: major, MimeType: kind, URL: at, Filename: name})
	return true
}
