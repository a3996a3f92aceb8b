package pake

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
)

// codeWords is the number of words of a code: 2²⁴ codes, of which an attacker can try three.
const codeWords = 3

// Code is an invitation that is read aloud, such as "7-maple-otter-tulip". The number identifies
// it. The words are the secret, and are never sent.
type Code struct {
	Number int
	Words  []string
}

// NewCode creates a code with the number.
func NewCode(number int) Code {
	return Code{number, identity.Words(random(codeWords), codeWords)}
}

func (c Code) String() string { return strconv.Itoa(c.Number) + "-" + strings.Join(c.Words, "-") }

// secret returns the secret that both sides share.
func (c Code) secret() []byte { return []byte(strings.Join(c.Words, "-")) }

// ParseCode parses a code as people type it: in any case, with spaces or hyphens. The error names a
// word that is not in the list.
func ParseCode(text string) (Code, error) {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == '-' || r == ' ' || r == '\t' || r == '\n' || r == '.' || r == ',' })
	if len(fields) != codeWords+1 {
		return Code{}, fmt.Errorf("a code is a number and %d words, such as 7-maple-otter-tulip", codeWords)
	}
	n, err := strconv.Atoi(fields[0])
	if err != nil || n < 1 || n > 999 {
		return Code{}, fmt.Errorf("a code starts with a number, not with %.20q", fields[0])
	}
	for _, w := range fields[1:] {
		if !identity.IsWord(w) {
			return Code{}, fmt.Errorf("%.30q is not a word of any code: check the code", w)
		}
	}
	return Code{n, fields[1:]}, nil
}

// Link is an invitation to copy or scan: the gateway's addresses, its pin, and a secret that works
// once.
type Link struct {
	Addresses []string // host:port
	Pin       identity.Pin
	Invite    string
	Secret    []byte
	Role      string // of the new device, node or client; may be empty, because the gateway decides
}

const secretSize = 16

// NewSecret returns the secret for a new invitation.
func NewSecret() []byte { return random(secretSize) }

// random returns n random bytes.
func random(n int) []byte {
	b := make([]byte, n)
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
