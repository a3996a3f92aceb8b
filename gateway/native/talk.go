package native

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// MessageIn are the arguments of gsv__Message, which sends a message over a channel. Empty fields
// default to the chat's current channel, peer and account.
type MessageIn struct {
	Text      string `json:"text" jsonschema:"text of the message; may be empty if files are sent"`
	Channel   string `json:"channel,omitempty" jsonschema:"channel to send to; default: the chat's channel"`
	To        string `json:"to,omitempty" jsonschema:"recipient; default: the person or group of the chat"`
	PeerKind  string `json:"peerKind,omitempty" jsonschema:"dm, group, channel or thread; default: that of the chat, otherwise dm"`
	AccountID string `json:"accountId,omitempty" jsonschema:"account of a channel that has several"`
	ReplyToID string `json:"replyToId,omitempty" jsonschema:"ID of the message to reply to"`
	// Files is an extension: GSV sends only text.
	Files []string `json:"files,omitempty" jsonschema:"files of your workspace to attach, at most 4"`
}

// Watch subscribes to changes; *event.Bus implements it.
type Watch interface {
	SubscribeOnly(func(protocol.Change) bool) *event.Subscription
}

const (
	defaultSessions = 20
	maxSessions     = 100
	maxMessages     = 20
	defaultWait     = 30 * time.Second
	maxWait         = 120 * time.Second
)

type sessionsIn struct {
	Limit        *float64 `json:"limit,omitempty" jsonschema:"number of chats; default 20, at most 100"`
	Offset       *float64 `json:"offset,omitempty" jsonschema:"number of chats to skip; default 0"`
	MessageLimit *float64 `json:"messageLimit,omitempty" jsonschema:"number of last messages of each chat, 0 to 20; default 0"`
}

type sessionsOut struct {
	Sessions []sessionOut `json:"sessions"`
	Count    int          `json:"count"`
}

type sessionOut struct {
	protocol.SessionEntry
	Messages []messageOut `json:"messages,omitempty"`
}

type messageOut struct {
	Role      protocol.Role `json:"role"`
	Text      string        `json:"text"`
	Timestamp int64         `json:"timestamp,omitempty"`
}

type sendIn struct {
	SessionKey  protocol.SessionKey `json:"sessionKey" jsonschema:"the chat, such as main or agent:helper:main"`
	Message     string              `json:"message" jsonschema:"text of the message"`
	WaitSeconds *float64            `json:"waitSeconds,omitempty" jsonschema:"seconds to wait for the answer; 0 does not wait; default 30, at most 120"`
}

// sendOut is the result of sending a message: replied (Reply is the answer), sent (without
// waiting), timeout (the answer will come later) or failed.
type sendOut struct {
	SessionKey protocol.SessionKey `json:"sessionKey"`
	RunID      protocol.RunID      `json:"runId,omitempty"`
	Status     string              `json:"status"`
	Reply      string              `json:"reply,omitempty"`
	Error      string              `json:"error,omitempty"`
}

func (t tools) talk() []tool.Own {
	list := own(protocol.ScopeChat,
		oneOf(toolkit.Define("Message", "Send a message to a person or group on a chat channel. Without channel and to, it is sent to where the last message of this chat came from.",
			toolkit.Traits{Effect: protocol.EffectNetwork}, t.message), "peerKind", "dm", "group", "channel", "thread"),
		toolkit.Define("SessionSend", "Send a message to another chat, whose agent then works on it, and wait for the answer.",
			toolkit.Traits{Effect: protocol.EffectWrite}, t.sessionSend),
	)
	sessions := toolkit.WithPreview(toolkit.Define("SessionsList", "List the chats with their last activity, and, if requested, their last messages.",
		toolkit.Traits{Effect: protocol.EffectRead, Idempotent: true}, t.sessionsList),
		func(_ context.Context, call tool.Call, _ sessionsIn) (protocol.CallPreview, error) {
			return protocol.CallPreview{Personal: t.isShared(call)}, nil
		})
	return slices.Insert(list, 1, own(protocol.ScopeRead, sessions)...)
}

func (t tools) message(ctx context.Context, call tool.Call, in MessageIn) (any, error) {
	if strings.TrimSpace(in.Text) == "" && len(in.Files) == 0 {
		return nil, errors.New("text required")
	}
	return t.Services.Message(ctx, call, in)
}

func (t tools) sessionsList(ctx context.Context, _ tool.Call, in sessionsIn) (sessionsOut, error) {
	limit, err := count("limit", in.Limit, defaultSessions, maxSessions)
	if err != nil {
		return sessionsOut{}, err
	}
	offset, err := count("offset", in.Offset, 0, math.MaxInt32)
	if err != nil {
		return sessionsOut{}, err
	}
	messages, err := count("messageLimit", in.MessageLimit, 0, maxMessages)
	if err != nil {
		return sessionsOut{}, err
	}
	list, err := t.Chats.List(ctx, protocol.SessionsListParams{Offset: offset, Limit: max(limit, 1)})
	if err != nil {
		return sessionsOut{}, err
	}
	out := sessionsOut{Sessions: []sessionOut{}, Count: list.Count}
	for _, s := range list.Sessions {
		row := sessionOut{SessionEntry: s}
		if messages > 0 {
			p, err := t.History.Preview(ctx, protocol.SessionPreviewParams{SessionKey: s.SessionKey, Limit: messages})
			if err != nil {
				return sessionsOut{}, err
			}
			for _, m := range p.Messages {
				row.Messages = append(row.Messages, messageOut{m.Role, m.Content.Text(), m.Timestamp})
			}
		}
		out.Sessions = append(out.Sessions, row)
	}
	return out, nil
}

// count converts an optional number: models write both 10 and 10.0, and values that are too large
// are reduced to most.
func count(name string, v *float64, otherwise, most int) (int, error) {
	switch {
	case v == nil:
		return otherwise, nil
	case !(*v >= 0):
		return 0, fmt.Errorf("%s must be 0 or more", name)
	}
	return int(min(math.Floor(*v), float64(most))), nil
}

// sessionSend sends a message and waits for the run that it started; it never returns an older
// answer of the same chat.
func (t tools) sessionSend(ctx context.Context, call tool.Call, in sendIn) (sendOut, error) {
	if in.SessionKey == "" || strings.TrimSpace(in.Message) == "" {
		return sendOut{}, errors.New("sessionKey and message required")
	}
	wait := defaultWait
	if in.WaitSeconds != nil {
		if !(*in.WaitSeconds >= 0) {
			return sendOut{}, errors.New("waitSeconds must be 0 or more")
		}
		wait = time.Duration(min(*in.WaitSeconds, maxWait.Seconds()) * float64(time.Second))
	}
	run := protocol.RunID(protocol.NewID())
	sub := t.Watch.SubscribeOnly(func(c protocol.Change) bool {
		return c.Kind == protocol.ChangeChat && c.Chat.RunID != nil && *c.Chat.RunID == run && (c.Chat.State == protocol.ChatFinal || c.Chat.State == protocol.ChatErrState)
	})
	defer sub.Close()
	res, err := t.Messages.Send(ctx, auth.Agent(call.Session, call.Run), protocol.ChatSendParams{SessionKey: in.SessionKey, Message: in.Message, RunID: run})
	if err != nil {
		return sendOut{}, err
	}
	out := sendOut{SessionKey: in.SessionKey, RunID: res.RunID, Status: "sent"}
	if wait == 0 {
		return out, nil
	}
	late, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for c := range sub.All(late) {
		if c.Kind != protocol.ChangeChat {
			continue // a resync: the end may have been lost, then the time limit applies
		}
		out.Status = "replied"
		if c.Chat.State == protocol.ChatErrState {
			out.Status, out.Error = "failed", c.Chat.Error
		} else if c.Chat.Message != nil {
			out.Reply = c.Chat.Message.Content.Text()
		}
		return out, nil
	}
	if err := ctx.Err(); err != nil {
		return sendOut{}, err
	}
	out.Status = "timeout"
	return out, nil
}
