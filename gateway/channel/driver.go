package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
)

// Driver runs accounts of one kind of channel inside the gateway. It must be safe for concurrent
// use.
type Driver interface {
	// Kind returns the channel's name and the settings of its accounts. The result never changes.
	Kind() protocol.ChannelKind
	// Check validates an account's settings. Its errors are sentences for people.
	Check(Config) error
	// Connect connects an account and serves it until the connection closes or ctx is cancelled: it
	// calls Upstream.Online when it can send, and Upstream.Inbound for each message. Afterwards the
	// hub connects again, unless the error is an ErrLogin.
	Connect(ctx context.Context, a Account, up *Upstream) error
	// Login checks whether an account can log in, or begins a login; with force, a new one.
	Login(ctx context.Context, a Account, force bool) (LoginResult, error)
	// Logout ends a login on the network.
	Logout(ctx context.Context, a Account) error
}

// Account is one of a driver's accounts. Config contains its secrets, so it must not be logged or
// stored.
type Account struct {
	ID     string
	Config Config
}

// Config contains an account's settings by name.
type Config map[string]json.RawMessage

// Text returns a setting that is a text, or "".
func (c Config) Text(name string) string {
	var s string
	if json.Unmarshal(c[name], &s) != nil {
		return ""
	}
	return strings.TrimSpace(s)
}

// Texts returns a setting that is a list of texts, or one text with commas.
func (c Config) Texts(name string) []string {
	var list []string
	if json.Unmarshal(c[name], &list) != nil {
		list = strings.Split(c.Text(name), ",")
	}
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// LoginResult is the result of a login, or its next step.
type LoginResult struct {
	QRDataURL string // the QR code to scan
	Message   string
}

// Transport sends over a connection. One goroutine calls Send and another one Typing.
type Transport interface {
	// Send sends a message and returns when the network has accepted it, with the network's ID of
	// the message if it has one. An error that is ErrRefused is final; after any other error the
	// hub sends the message again later.
	Send(ctx context.Context, m protocol.ChannelOutbound) (messageID string, err error)
	// Typing sends the agent's typing state. It may be lost.
	Typing(ctx context.Context, t protocol.ChannelTyping) error
}

var (
	// ErrRefused is the error for a message that the network will never accept.
	ErrRefused = errors.New("refused")
	// ErrLogin is the error for an account that cannot log in with its settings: the person must
	// act.
	ErrLogin = errors.New("cannot log in")
)

// NewRefusal returns an ErrRefused with a reason.
func NewRefusal(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

// Login returns an ErrLogin with a reason.
func Login(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrLogin, fmt.Sprintf(format, args...))
}
