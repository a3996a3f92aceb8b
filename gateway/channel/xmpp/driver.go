// Package xmpp connects the agent to XMPP (RFC 6120, 6121): direct messages, rooms in which it is
// mentioned (XEP-0045), typing (XEP-0085), replies (XEP-0461), places (XEP-0080), files by address
// (XEP-0066, XEP-0385, XEP-0447, XEP-0454) and by upload (XEP-0363), receipts (XEP-0184). People
// who may write to the agent can see its presence. The package implements the protocol itself, with
// the standard library only, and only over TLS.
package xmpp

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"

	"fairlead/gateway/channel"
	"fairlead/gateway/protocol"
)

// Driver is a channel.Driver.
type Driver struct{}

// Kind implements channel.Driver.
func (Driver) Kind() protocol.ChannelKind {
	return protocol.ChannelKind{Channel: "xmpp", Title: "XMPP (Jabber)", Fields: []protocol.ChannelField{
		{Name: "jid", Title: "Address of the agent's account, such as agent@example.org", Required: true},
		{Name: "password", Title: "Password", Required: true, Secret: true},
		{Name: "rooms", Title: "Rooms to join, such as team@rooms.example.org"},
		{Name: "files", Title: "More hosts to fetch files from, besides the account's own server, such as upload.example.net, *.example.net or *"},
		{Name: "nick", Title: "Nickname in rooms (default: the address's first part)"},
		{Name: "server", Title: "Server as host:port, if the address's domain does not lead to it"},
		{Name: "certificate", Title: "Certificate (PEM) to trust for this server, if the system does not trust its own", Long: true},
	}}
}

// Check implements channel.Driver.
func (Driver) Check(c channel.Config) error {
	_, err := settingsOf(c)
	return err
}

// settings are an account's validated settings.
type settings struct {
	login
	rooms []string
	nick  string
	files []string // hosts besides the account's own server, in lower case
}

func settingsOf(c channel.Config) (settings, error) {
	var s settings
	var ok bool
	if s.local, s.domain, ok = splitJID(c.Text("jid")); !ok {
		return s, fmt.Errorf("the account's address (jid) must look like agent@example.org, not %q", c.Text("jid"))
	}
	// The password is used as typed, because a trailing space may be intended.
	if json.Unmarshal(c["password"], &s.password) != nil || s.password == "" {
		return s, errors.New("password must be a text")
	}
	for _, room := range c.Texts("rooms") {
		if _, _, ok := splitJID(room); !ok {
			return s, fmt.Errorf("a room is an address such as team@rooms.example.org, not %q", room)
		}
		s.rooms = append(s.rooms, bare(room))
	}
	for _, host := range c.Texts("files") {
		host = strings.ToLower(strings.TrimSpace(host))
		if strings.ContainsAny(strings.TrimPrefix(host, "*."), "*/: ") && host != "*" {
			return s, fmt.Errorf("files are fetched from a host such as upload.example.net, *.example.net or *, not %q", host)
		}
		s.files = append(s.files, host)
	}
	if s.nick = c.Text("nick"); s.nick == "" {
		s.nick = s.local
	}
	if s.server = c.Text("server"); s.server != "" {
		if _, _, err := net.SplitHostPort(s.server); err != nil {
			return s, fmt.Errorf("server must be host:port, not %q", s.server)
		}
	}
	if pem := c.Text("certificate"); pem != "" {
		if s.roots = x509.NewCertPool(); !s.roots.AppendCertsFromPEM([]byte(pem)) {
			return s, errors.New("certificate must be in PEM form: it begins with -----BEGIN CERTIFICATE-----")
		}
	}
	return s, nil
}

// Connect implements channel.Driver.
func (Driver) Connect(ctx context.Context, a channel.Account, up *channel.Upstream) error {
	s, set, err := open(ctx, a)
	if err != nil {
		return err
	}
	return newClient(s, set, up).serve(ctx)
}

// open connects and logs in with an account's settings.
func open(ctx context.Context, a channel.Account) (*stream, settings, error) {
	set, err := settingsOf(a.Config)
	if err != nil {
		return nil, set, channel.Login("%v", err)
	}
	s, err := dial(ctx, set.login)
	return s, set, err
}

// Login implements channel.Driver: it logs in and out again.
func (Driver) Login(ctx context.Context, a channel.Account, _ bool) (channel.LoginResult, error) {
	s, _, err := open(ctx, a)
	if err != nil {
		return channel.LoginResult{}, err
	}
	s.send("</stream:stream>")
	s.conn.Close()
	return channel.LoginResult{Message: fmt.Sprintf("%s can log in.", bare(s.jid))}, nil
}

// Logout implements channel.Driver. XMPP has no login beyond a connection.
func (Driver) Logout(context.Context, channel.Account) error { return nil }

// mentions reports whether a text contains nick as a separate word.
func mentions(text, nick string) bool {
	const edge = `[^\pL\p{Nd}_]`
	return nick != "" && regexp.MustCompile(`(?i)(^|`+edge+`)`+regexp.QuoteMeta(nick)+`($|`+edge+`)`).MatchString(text)
}
