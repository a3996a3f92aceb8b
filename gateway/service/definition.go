package service

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
)

// Definition is what a new service shall be.
type Definition struct {
	NodeID   protocol.NodeID
	Title    string // empty for the machine and the port
	Target   Target
	Enabled  bool
	SignIn   bool
	Visitors []string // see [ParsePattern]
	// Certificate is the fingerprint of the target's certificate to trust; may be empty.
	Certificate string
}

// Check returns why a service cannot be published, as a *protocol.Fault.
func (d Definition) Check() error {
	if _, err := patterns(nil, d.Visitors); err != nil {
		return err
	}
	return checkTitle(d.title())
}

func (d Definition) title() string {
	return cmp.Or(strings.TrimSpace(d.Title), fmt.Sprintf("%s %d", d.NodeID, d.Target.Port))
}

// Change changes some fields of a service; nil leaves a field as it is.
type Change struct {
	Title           *string
	Target          *Target // a new one is not trusted without Certificate
	Certificate     *string
	Enabled, SignIn *bool
}

// Check returns why a service cannot be changed so, as a *protocol.Fault.
func (c Change) Check(v protocol.Service) error {
	if c.Title != nil {
		if err := checkTitle(strings.TrimSpace(*c.Title)); err != nil {
			return err
		}
	}
	if !value(c.SignIn, v.SignIn) && len(v.Visitors) > 0 {
		return protocol.NewFault(protocol.FaultFailedPrecondition, "the service has a list of visitors, who sign in: clear it with service_share and the action revoke first")
	}
	return nil
}

func value[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// maxTitle is the greatest length of a title, in bytes.
const maxTitle = 200

func checkTitle(title string) error {
	if title == "" || len(title) > maxTitle || strings.ContainsFunc(title, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return invalid("the title must be one line of 1 to %d bytes", maxTitle)
	}
	return nil
}

// nameFor returns a host name's first part for a title. Its end is random, so that nobody finds a
// service by its title, and two have never the same.
func nameFor(title string) string {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return ' '
	}, title)
	slug = strings.Join(strings.Fields(slug), "-")
	return strings.Trim(slug[:min(len(slug), 40)]+"-"+strings.ToLower(rand.Text()[:10]), "-")
}
