package pake

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/url"
	"strings"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
)

// Link is an invitation to copy or scan: the gateway's addresses, its pin, and a secret that works
// once.
type Link struct {
	Addresses []string // host:port
	Pin       identity.Pin
	Invite    string
	Secret    []byte
	Role      string // of the new device, node or client; may be empty, because the gateway decides
}

const (
	secretSize = 16
)

// NewSecret returns the secret for a new invitation.
func NewSecret() []byte {
	b := make([]byte, secretSize)
	rand.Read(b)
	return b
}

// String returns fairlead://pair?a=host:port&…&p=pin&i=invitation&s=secret, with &r=role if there
// is one.
func (l Link) String() string {
	q := url.Values{
		"a": l.Addresses, "i": {l.Invite}, "p": {base64.RawURLEncoding.EncodeToString(l.Pin.Sum())},
		"s": {base64.RawURLEncoding.EncodeToString(l.Secret)},
	}
	if l.Role != "" {
		q.Set("r", l.Role)
	}
	return "fairlead://pair?" + q.Encode()
}

// IsLink reports whether text looks like a link.
func IsLink(text string) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(text)), "fairlead:")
}

var errLink = errors.New("the pairing link is incomplete: copy it again, from fairlead:// to its end")

// ParseLink parses a link. It ignores white space, because mail programs insert it.
func ParseLink(text string) (Link, error) {
	u, err := url.Parse(strings.Join(strings.Fields(text), ""))
	if err != nil || !strings.EqualFold(u.Scheme, "fairlead") || u.Host != "pair" {
		return Link{}, errLink
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Link{}, errLink
	}
	l := Link{Addresses: q["a"], Invite: q.Get("i")}
	if r := q.Get("r"); r == protocol.RoleNode || r == protocol.RoleClient {
		l.Role = r
	}
	if len(l.Addresses) == 0 || len(l.Addresses) > identity.MaxAddresses || l.Invite == "" || len(l.Invite) > 64 {
		return Link{}, errLink
	}
	for _, a := range l.Addresses {
		if err := identity.CheckAddress(a); err != nil {
			return Link{}, err
		}
	}
	if l.Pin, err = identity.ParsePin(q.Get("p")); err != nil {
		return Link{}, errLink
	}
	if l.Secret, err = base64.RawURLEncoding.DecodeString(q.Get("s")); err != nil || len(l.Secret) != secretSize {
		return Link{}, errLink
	}
	return l, nil
}
