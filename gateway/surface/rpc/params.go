package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"fairlead/gateway/protocol"
)

// handler implements one method.
type handler func(ctx context.Context, c *Conn, params json.RawMessage) (any, error)

// handle registers a method with its parameter and result types.
func handle[P, R any](all map[string]handler, m protocol.Method[P, R], f func(context.Context, *Conn, P) (R, error)) {
	all[m.Name] = func(ctx context.Context, c *Conn, raw json.RawMessage) (any, error) {
		var p P
		if len(raw) > 0 && string(raw) != "null" {
			if err := protocol.Unmarshal(raw, &p); err != nil {
				return nil, protocol.ErrBadRequest.With(fmt.Sprintf("params of %s: %s", m.Name, protocol.Problem(err)))
			}
		}
		out, err := f(ctx, c, p)
		return out, brief(err)
	}
}

// Limits of the parts of an error message: it may repeat megabytes of what the peer sent.
const (
	maxMessageHead = 300
	maxMessageTail = 200
)

// brief shortens the message of an error about a request. A tool's own error text is not cut.
func brief(err error) error {
	e, ok := errors.AsType[*protocol.Error](err)
	if !ok || e.Code == protocol.CodeInternal {
		return err
	}
	text := err.Error()
	if len(text) <= maxMessageHead+maxMessageTail {
		return err
	}
	return e.With(strings.ToValidUTF8(text[:maxMessageHead], "") + " … " + strings.ToValidUTF8(text[len(text)-maxMessageTail:], ""))
}

// plain adapts a service method that does not need the connection.
func plain[P, R any](f func(context.Context, P) (R, error)) func(context.Context, *Conn, P) (R, error) {
	return func(ctx context.Context, _ *Conn, p P) (R, error) { return f(ctx, p) }
}

// keyed is plain for methods on a session: the key is required and made canonical.
func keyed[P, R any](s *Server, key func(*P) *protocol.SessionKey, f func(context.Context, P) (R, error)) func(context.Context, *Conn, P) (R, error) {
	return func(ctx context.Context, _ *Conn, p P) (R, error) {
		k := key(&p)
		if *k == "" {
			var zero R
			return zero, protocol.ErrBadRequest.With("sessionKey required")
		}
		if err := checkKey(*k); err != nil {
			var zero R
			return zero, err
		}
		*k = s.s.Canonical(*k)
		return f(ctx, p)
	}
}

// maxID is the longest ID, in bytes, that a peer may choose for a run, a call or itself. Events
// repeat it.
const maxID = 200

func checkID(name, id string) error {
	if len(id) > maxID || strings.ContainsFunc(id, unicode.IsControl) {
		return protocol.ErrBadRequest.With(fmt.Sprintf("%s may have %d bytes and no control characters", name, maxID))
	}
	return nil
}

// maxLabel is the longest name of a chat, in characters. Every window lists it.
const maxLabel = 200

func checkLabel(label string) error {
	if utf8.RuneCountInString(label) > maxLabel || strings.ContainsFunc(label, unicode.IsControl) {
		return protocol.ErrBadRequest.With(fmt.Sprintf("label must be one line of at most %d characters", maxLabel))
	}
	return nil
}

// maxKey is the longest session key, in bytes. Keys for people on channels are shorter.
const maxKey = 1024

// checkKey refuses a session key that could not be displayed or looked up.
func checkKey(key protocol.SessionKey) error {
	if len(key) > maxKey || strings.ContainsFunc(string(key), unicode.IsControl) {
		return protocol.ErrBadRequest.With(fmt.Sprintf("sessionKey may have %d bytes and no control characters", maxKey))
	}
	return nil
}
