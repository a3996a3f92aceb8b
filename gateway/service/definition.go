package service

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"strings"
	"unicode/utf8"

	"fairlead/gateway/protocol"
)

// Definition is what a new service shall be.
type Definition struct {
	NodeID   protocol.NodeID
	Title    string // empty for the machine, and the port or "terminal"
	Target   Target
	Terminal *protocol.TerminalOpen // instead of Target
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
	if err := checkTerminal(d.Terminal); err != nil {
		return err
	}
	return checkTitle(d.title())
}

func (d Definition) title() string {
	otherwise := fmt.Sprintf("%s %d", d.NodeID, d.Target.Port)
	if d.Terminal != nil {
		otherwise = fmt.Sprintf("%s terminal", d.NodeID)
	}
	return cmp.Or(strings.TrimSpace(d.Title), otherwise)
}

// Service returns the service of a checked definition, without what only a published one has.
func (d Definition) Service() protocol.Service {
	visitors, _ := patterns(nil, d.Visitors) // checked
	v := protocol.Service{
		NodeID: d.NodeID, Title: d.title(), Enabled: d.Enabled, SignIn: d.SignIn || len(visitors) > 0 || d.Terminal != nil, Visitors: visitors,
		Mode: protocol.ServiceTerminal, Terminal: d.Terminal,
	}
	if d.Terminal == nil {
		v.Mode, v.Target, v.Certificate = protocol.ServiceProxy, d.Target.String(), d.Certificate
	}
	return v
}

// CheckMode returns why a service cannot have these fields at once, as a *protocol.Fault.
func CheckMode(hasTarget, hasCommand, hasUser bool) error {
	switch {
	case hasTarget && hasCommand:
		return invalid("proxy_target_url and terminal_command are mutually exclusive")
	case hasUser && !hasCommand:
		return invalid("username and workdir are for terminal and shell services only")
	}
	return nil
}

// maxCommand is the greatest length of a terminal's command, user or folder, in bytes.
const maxCommand = 4096

func checkTerminal(t *protocol.TerminalOpen) error {
	if t == nil {
		return nil
	}
	for _, field := range [][2]string{{"terminal_command", t.Command}, {"username", t.Username}, {"workdir", t.Workdir}} {
		if text := field[1]; len(text) > maxCommand || !utf8.ValidString(text) || strings.ContainsFunc(text, isControl) {
			return invalid("%s must be one line of at most %d bytes", field[0], maxCommand)
		}
	}
	return nil
}

// Change changes some fields of a service; nil leaves a field as it is.
type Change struct {
	Title           *string
	Target          *Target // switches a terminal to an app; a new one is not trusted without Certificate
	Certificate     *string
	Enabled, SignIn *bool

	Command           *string // switches an app to a terminal; empty for the user's shell
	Username, Workdir *string // of a terminal
}

// Apply changes a service, or returns why it cannot be changed so, as a *protocol.Fault.
func (c Change) Apply(v *protocol.Service) error {
	v.Title = strings.TrimSpace(value(c.Title, v.Title))
	if err := checkTitle(v.Title); err != nil {
		return err
	}
	isTerminal := c.Command != nil || v.Terminal != nil && c.Target == nil
	if err := CheckMode(c.Target != nil, c.Command != nil || isTerminal, c.Username != nil || c.Workdir != nil); err != nil {
		return err
	}
	v.Enabled, v.SignIn = value(c.Enabled, v.Enabled), value(c.SignIn, v.SignIn)
	switch {
	case isTerminal:
		t := protocol.TerminalOpen{}
		if v.Terminal != nil {
			t = *v.Terminal
		}
		t.Command, t.Username, t.Workdir = value(c.Command, t.Command), value(c.Username, t.Username), value(c.Workdir, t.Workdir)
		v.Mode, v.Terminal, v.Target, v.Certificate, v.SignIn = protocol.ServiceTerminal, &t, "", "", true
		return checkTerminal(&t)
	case c.Target != nil:
		v.Mode, v.Terminal, v.Target, v.Certificate = protocol.ServiceProxy, nil, c.Target.String(), ""
	}
	v.Certificate = value(c.Certificate, v.Certificate)
	if !v.SignIn && len(v.Visitors) > 0 {
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
	if title == "" || len(title) > maxTitle || strings.ContainsFunc(title, isControl) {
		return invalid("the title must be one line of 1 to %d bytes", maxTitle)
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

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
