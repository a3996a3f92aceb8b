package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
)

// Driver runs accounts of one kind of channel inside the gateway. It is safe for use by many goroutines.
type Driver interface {
	// Kind says what the channel is called and what an account has to know. It never changes.
	Kind() protocol.ChannelKind
	// Check says what is wrong with an account's settings, in plain sentences.
	Check(Config) error
	// Connect connects an account and serves it until the connection or ctx ends.
	Connect(ctx context.Context, a Account, up Upstream) error
	// Login finds out whether an account can log in, or begins it. With force it begins anew.
	Login(ctx context.Context, a Account, force bool) (LoginResult, error)
	// Logout ends a login on the network's side.
	Logout(ctx context.Context, a Account) error
}

// Account is one of a driver's accounts. Config holds its secrets too: it must not be logged or kept.
type Account struct {
	ID     string
	Config Config
}

// Config are an account's settings by name.
type Config map[string]json.RawMessage

// Text is a setting that is a text; what is none reads as empty.
func (c Config) Text(name string) string {
	var s string
	if json.Unmarshal(c[name], &s) != nil {
		return ""
	}
	return strings.TrimSpace(s)
}

// Texts is a setting that is a list of texts, or one text with commas.
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

// Is is a setting that is true or false; true may be written as a text.
func (c Config) Is(name string) bool {
	var b bool
	if json.Unmarshal(c[name], &b) == nil {
		return b
	}
	return strings.EqualFold(c.Text(name), "true")
}

// LoginResult is how a login went, or how it goes on.
type LoginResult struct {
	QRDataURL string // to be scanned
	Message   string
}

// Upstream is what a connection tells the hub. It is safe for use by many goroutines. Its methods may block, but all save Inbound not for long.
type Upstream interface {
	// Inbound takes a message, which may take minutes where a recording is transcribed: those of other chats are given meanwhile, those of one chat one
	// after the other. An error means that it was not taken: it may be given again. When ctx ends first it may be taken all the same.
	Inbound(ctx context.Context, in protocol.ChannelInboundParams) (protocol.ChannelInboundResult, error)
	// Allows reports whether somebody may write to the agent directly, as the channel's settings are now. Nobody is asked.
	Allows(sender string) bool
	// Online says that t can send from now on, until Connect returns. extra is for people who look at the status.
	Online(t Transport, extra map[string]any)
	// Trouble says, after Online, what does not work though the account is connected, in a plain sentence; "" is nothing any more.
	Trouble(why string)
}

// Transport sends over a connection. It is used by one goroutine for messages and by another for typing.
type Transport interface {
	// Send says something and returns when the network took it, with the network's id of the message where it has one. An error that is
	// ErrRefused is final; after any other it is said again later.
	Send(ctx context.Context, m protocol.ChannelOutbound) (messageID string, err error)
	// Typing shows whether the agent writes. It may be lost.
	Typing(ctx context.Context, t protocol.ChannelTyping) error
}

var (
	// ErrRefused is a message that the network will never take.
	ErrRefused = errors.New("refused")
	// ErrLogin is an account that cannot log in as it is: the person must act.
	ErrLogin = errors.New("cannot log in")
)

// Refused makes an ErrRefused with a reason.
func Refused(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

// Login makes an ErrLogin with a reason.
func Login(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrLogin, fmt.Sprintf(format, args...))
}
