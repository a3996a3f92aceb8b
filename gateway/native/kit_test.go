package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
	"fairlead/gateway/workspace"
)

type maskedConfig struct{}

func (maskedConfig) All() (json.RawMessage, error) {
	return json.RawMessage(`{"auth":{"token":"***"}}`), nil
}

func (maskedConfig) Read(path string) (json.RawMessage, error) {
	if path == "auth.token" {
		return json.RawMessage(`"***"`), nil
	}
	return nil, nil
}

// chats answers every message with answer, in the run with the message's ID.
type chats struct {
	bus    *event.Bus
	answer func(in protocol.ChatSendParams) *protocol.ChatEvent
	from   auth.Principal
}

func (c *chats) List(_ context.Context, in protocol.SessionsListParams) (protocol.SessionsListResult, error) {
	res := protocol.SessionsListResult{Count: 250}
	for i := range in.Limit {
		res.Sessions = append(res.Sessions, protocol.SessionEntry{SessionKey: protocol.SessionKey(fmt.Sprint("k", in.Offset+i))})
	}
	return res, nil
}

func (c *chats) Preview(_ context.Context, in protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error) {
	var res protocol.SessionPreviewResult
	for i := range in.Limit {
		res.Messages = append(res.Messages, protocol.Message{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(fmt.Sprint(i))}})
	}
	return res, nil
}

func (c *chats) Send(_ context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	c.from = p
	old := protocol.RunID("older")
	c.bus.Publish(protocol.Change{Kind: protocol.ChangeChat, Chat: &protocol.ChatEvent{RunID: &old, State: protocol.ChatFinal, Message: assistantText("stale")}})
	if e := c.answer(in); e != nil {
		e.RunID = &in.RunID
		c.bus.Publish(protocol.Change{Kind: protocol.ChangeChat, Chat: e})
	}
	return protocol.ChatSendResult{Status: protocol.ChatStarted, RunID: in.RunID}, nil
}

func (c *chats) Shared(key protocol.SessionKey) bool { return strings.Contains(string(key), ":group:") }

func assistantText(s string) *protocol.Message {
	return &protocol.Message{Role: protocol.RoleAssistant, Content: protocol.Content{protocol.Text(s)}}
}

type kit struct {
	*tool.Registry
	tools []tool.Own
	t     *testing.T
	home  string
	*chats
}

func open(t *testing.T) *kit {
	home := t.TempDir()
	bus := new(event.Bus)
	k := &kit{t: t, home: home, chats: &chats{bus: bus, answer: func(protocol.ChatSendParams) *protocol.ChatEvent { return nil }}}
	hub := nodes.New(bus, nil)
	k.Registry = tool.NewRegistry(hub, hub.Calls, nil)
	k.tools = Tools(Services{
		Files: workspace.NewFiles(home, nil), Config: maskedConfig{}, Watch: bus, Machines: hub.Calls, Chats: k.chats, History: k.chats, Messages: k.chats,
		Cron:    toolkit.Define("Cron", "Schedules.", toolkit.Traits{}, func(context.Context, tool.Call, struct{}) (any, error) { return nil, nil }),
		Message: func(context.Context, tool.Call, MessageIn) (any, error) { return nil, errors.New("not in this test") },
		Transfer: func(context.Context, tool.Call, TransferIn) (TransferOut, error) {
			return TransferOut{}, errors.New("not in this test")
		},
	})
	k.Register(k.tools...)
	return k
}

func (k *kit) own(name string) tool.Own {
	k.t.Helper()
	for _, own := range k.tools {
		if own.Spec.Name == name {
			return own
		}
	}
	k.t.Fatalf("no tool is called %s", name)
	panic("unreachable")
}

// call returns a tool's result as JSON.
func (k *kit) call(name, args string) string {
	k.t.Helper()
	raw, err := k.own(name).Execute(k.t.Context(), tool.Call{Args: json.RawMessage(args), Session: protocol.MainSession})
	if err != nil && !errors.Is(err, tool.ErrReported) {
		var bad *toolkit.InputError
		if !errors.As(err, &bad) {
			k.t.Errorf("got %s %s: %v, want an error of type *toolkit.InputError", name, args, err)
		}
		return "input: " + err.Error()
	}
	k.checkSchema(name, raw)
	return string(raw)
}

// checkSchema fails unless a successful result fits the output schema of its tool.
func (k *kit) checkSchema(name string, raw json.RawMessage) {
	k.t.Helper()
	var out struct {
		OK     bool
		Result any
	}
	s := toolkit.ParseSchema(k.own(name).Spec.OutputSchema)
	if err := json.Unmarshal(raw, &out); err != nil || !out.OK || s == nil {
		return
	}
	resolved, err := s.Resolve(nil)
	if err == nil {
		err = resolved.Validate(out.Result)
	}
	if err != nil {
		k.t.Errorf("%s returned %.300s, which does not fit its schema: %.300v", name, raw, err)
	}
}

func (k *kit) want(name, args string, parts ...string) {
	k.t.Helper()
	got := k.call(name, args)
	for _, p := range parts {
		if !strings.Contains(got, p) {
			k.t.Errorf("%s %s = %s, want %s", name, args, got, p)
		}
	}
}
