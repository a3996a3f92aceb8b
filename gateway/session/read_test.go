package session

import (
	"strings"
	"testing"

	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

// TestReadingAnEmptyChatStoresNothing: reading a key must not add it to the list of chats.
func TestReadingAnEmptyChatStoresNothing(t *testing.T) {
	g := start(t, llmtest.Say("Hello."))
	key := protocol.SessionKey("agent:main:app:chat:new")
	in := protocol.SessionParams{SessionKey: key}
	got, err := g.Get(t.Context(), in)
	if err != nil || got.SessionKey != key || got.SessionID == "" || got.CreatedAt == 0 || got.PreviousSessionIDs == nil || got.ResetPolicy.Mode == "" {
		t.Errorf("got %+v, error %v, want the empty chat %s", got, err, key)
	}
	stats, err := g.Stats(t.Context(), in)
	if err != nil || stats.SessionID != got.SessionID || stats.CreatedAt != got.CreatedAt || stats.IsProcessing || stats.MessageCount != 0 {
		t.Errorf("got %+v, error %v, want no messages of %s", stats, err, got.SessionID)
	}
	history, err := g.SessionIDs(t.Context(), in)
	if err != nil || history.CurrentSessionID != got.SessionID || history.PreviousSessionIDs == nil {
		t.Errorf("got %+v, error %v, want %s alone", history, err, got.SessionID)
	}
	preview, err := g.Preview(t.Context(), protocol.SessionPreviewParams{SessionKey: key})
	if err != nil || preview.SessionID != got.SessionID || preview.Messages == nil || len(preview.Messages) != 0 {
		t.Errorf("got %+v, error %v, want no messages of %s", preview, err, got.SessionID)
	}
	for _, command := range []string{"/status", "/model", "/think", "/mode"} {
		t.Run(command, func(t *testing.T) {
			res, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: key, Message: command})
			if err != nil || res.Response == "" {
				t.Errorf("%s: got %+v, error %v, want a response", command, res, err)
			}
		})
	}
	if keys, err := g.store.Sessions.Keys(t.Context()); err != nil || len(keys) != 0 {
		t.Errorf("stored: got %v %v; want no error and none", keys, err)
	}
	if list, err := g.List(t.Context(), protocol.SessionsListParams{}); err != nil || list.Count != 0 {
		t.Errorf("got %+v, error %v, want no chats", list, err)
	}
	// Writing to it creates the chat that was read.
	res, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: key, Message: "Hi"})
	if err != nil {
		t.Fatal(err)
	}
	g.end(res.RunID)
	if now, err := g.Get(t.Context(), in); err != nil || now.SessionID != got.SessionID || now.CreatedAt != got.CreatedAt || now.MessageCount != 2 {
		t.Errorf("got %+v, error %v, want 2 messages of %+v", now, err, got)
	}
	if list, err := g.List(t.Context(), protocol.SessionsListParams{}); err != nil || list.Count != 1 {
		t.Errorf("got %+v, error %v, want one chat", list, err)
	}
}

// TestResettingAnEmptyChatStoresNothing: session.reset and session.compact of any key,
// and the commands for them, must not add it to the list of chats.
func TestResettingAnEmptyChatStoresNothing(t *testing.T) {
	g := start(t, llmtest.Say("Hello."))
	key := protocol.SessionKey("agent:main:app:chat:new")
	in := protocol.SessionParams{SessionKey: key}
	was, err := g.Get(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	reset, err := g.Reset(t.Context(), in)
	if err != nil || !reset.OK || reset.SessionKey != key || reset.OldSessionID != was.SessionID || reset.NewSessionID == "" || reset.NewSessionID == was.SessionID ||
		reset.ArchivedMessages != 0 || reset.ArchivedTo != "" {
		t.Errorf("got %+v, error %v, want a new session after %s", reset, err, was.SessionID)
	}
	if now, err := g.Get(t.Context(), in); err != nil || now.SessionID != reset.NewSessionID {
		t.Errorf("%+v %v, want %s", now, err, reset.NewSessionID)
	}
	if short, err := g.Compact(t.Context(), protocol.SessionCompactParams{SessionKey: key}); err != nil || short != (protocol.SessionCompactResult{OK: true}) {
		t.Errorf("got %+v, error %v, want nothing done", short, err)
	}
	if whole, err := g.Uncompact(t.Context(), in); err != nil || whole != (protocol.SessionUncompactResult{OK: true}) {
		t.Errorf("got %+v, error %v, want nothing done", whole, err)
	}
	if _, err := g.Compact(t.Context(), compactParams(0)); err == nil {
		t.Error("nothing can be kept")
	}
	for _, command := range []string{"/new", "/reset", "/compact", "/compact 3", "/compact undo", "/stop"} {
		t.Run(command, func(t *testing.T) {
			res, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: key, Message: command})
			if err != nil || res.Response == "" || res.Error != "" {
				t.Errorf("%s: got %+v, error %v, want a response", command, res, err)
			}
		})
	}
	if keys, err := g.store.Sessions.Keys(t.Context()); err != nil || len(keys) != 0 {
		t.Errorf("stored: got %v %v; want no error and none", keys, err)
	}
	last, err := g.Get(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	res, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: key, Message: "Hi"})
	if err != nil {
		t.Fatal(err)
	}
	g.end(res.RunID)
	if now, err := g.Get(t.Context(), in); err != nil || now.SessionID != last.SessionID || now.MessageCount != 2 {
		t.Errorf("got %+v, error %v, want 2 messages of %+v", now, err, last)
	}
}

func TestSettingsOfAnEmptyChatAreStored(t *testing.T) {
	g := start(t)
	label := "Garden"
	if _, err := g.Patch(t.Context(), protocol.SessionPatchParams{SessionKey: "agent:main:app:chat:new", Label: &label}); err != nil {
		t.Fatal(err)
	}
	if list, err := g.List(t.Context(), protocol.SessionsListParams{}); err != nil || list.Count != 1 || list.Sessions[0].Label != label {
		t.Errorf("got %+v, error %v, want one chat with the label %q", list, err, label)
	}
}

func TestAPreviewAfterACompactionHoldsTheMessagesThatAreCounted(t *testing.T) {
	g := withModel(t, llmtest.Say("1"), llmtest.Say("2"), llmtest.Say(condensed), llmtest.Say("3"))
	g.end(g.send("one").RunID)
	g.end(g.send("two").RunID)
	if _, err := g.Compact(t.Context(), compactParams(2)); err != nil {
		t.Fatal(err)
	}
	g.end(g.send("three").RunID)
	for limit, want := range map[int]string{0: "two 2 three 3", 1: "3", 3: "2 three 3", 9: "two 2 three 3"} {
		p, err := g.Preview(t.Context(), protocol.SessionPreviewParams{SessionKey: chat, Limit: limit})
		var got []string
		for _, m := range p.Messages {
			got = append(got, m.Content.Text())
		}
		if err != nil || p.MessageCount != 4 || strings.Join(got, " ") != want {
			t.Errorf("limit %d: got %q of %d messages, %v, want %q of 4", limit, got, p.MessageCount, err, want)
		}
	}
}
