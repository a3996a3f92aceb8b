package trust

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"fairlead/gateway/protocol"
)

// Link is an invitation that is copied or scanned: where the gateway is, which key it has, and a secret that counts once.
type Link struct {
	Addresses []string // host:port
	Pin       Pin
	Invite    string
	Secret    []byte
	Role      string // what is invited, a node or a client; empty: it is not said. Nothing depends on it: the gateway knows
}

const (
	secretSize   = 16
	maxAddresses = 8
)

// NewSecret is the secret of a new invitation.
func NewSecret() []byte {
	b := make([]byte, secretSize)
	rand.Read(b)
	return b
}

// String is fairlead://pair?a=host:port&…&p=pin&i=invitation&s=secret, and &r=role where it is said.
func (l Link) String() string {
	q := url.Values{
		"a": l.Addresses, "i": {l.Invite}, "p": {base64.RawURLEncoding.EncodeToString(l.Pin.sum())},
		"s": {base64.RawURLEncoding.EncodeToString(l.Secret)},
	}
	if l.Role != "" {
		q.Set("r", l.Role)
	}
	return "fairlead://pair?" + q.Encode()
}

// IsLink reports whether text is meant to be a link.
func IsLink(text string) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(text)), "fairlead:")
}

var errLink = errors.New("this is not a whole pairing link; copy it again, from fairlead:// to its end")

// ParseLink reads a link. White space, which mail programs put in, is left out.
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
	if len(l.Addresses) == 0 || len(l.Addresses) > maxAddresses || l.Invite == "" || len(l.Invite) > 64 {
		return Link{}, errLink
	}
	for _, a := range l.Addresses {
		if err := CheckAddress(a); err != nil {
			return Link{}, err
		}
	}
	if l.Pin, err = ParsePin(q.Get("p")); err != nil {
		return Link{}, errLink
	}
	if l.Secret, err = base64.RawURLEncoding.DecodeString(q.Get("s")); err != nil || len(l.Secret) != secretSize {
		return Link{}, errLink
	}
	return l, nil
}

// CheckAddress refuses what is not host:port.
func CheckAddress(a string) error {
	host, port, err := net.SplitHostPort(a)
	if n, e := strconv.Atoi(port); err != nil || host == "" || strings.ContainsAny(host, "/?#@ ") || e != nil || n < 1 || n > 65535 {
		return fmt.Errorf("%.80q is no address of a gateway: give host:port", a)
	}
	return nil
}
