package session

import (
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/config"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

func TestFormerMainChatStaysReachable(t *testing.T) {
	g := withModel(t, llmtest.Say("Old."), llmtest.Say("New."), llmtest.Say("Again."))
	g.end(g.send("hello").RunID)
	g.set(func(c *config.Config) { c.Session.MainKey = "home" })
	if err := g.mainKeyChanged(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The list shows the former chat with a notice.
	list, err := g.List(t.Context(), protocol.SessionsListParams{})
	if err != nil || list.Count != 1 || list.Sessions[0].SessionKey != chat || list.Sessions[0].Main {
		t.Fatalf("got %+v, error %v, want the former chat alone", list, err)
	}
	words := g.words(chat)
	if len(words) != 3 || words[0] != "user: hello" || !strings.Contains(words[2], "The main chat is now agent:main:home") {
		t.Errorf("got %q, want a notice of the new main chat", words)
	}
	old := g.send("still there?")
	g.end(old.RunID)
	if words := g.words(chat); len(words) != 5 || words[3] != "user: still there?" {
		t.Errorf("got %q, want 5 messages", words)
	}
	// All other spellings mean the new chat.
	for _, key := range []protocol.SessionKey{"", "main", "home", "agent:main:home", "agent:main:cli:dm:main", "agent:main:MAIN"} {
		if got := g.Canonical(key); got != "agent:main:home" {
			t.Errorf("%q: got %q, want agent:main:home", key, got)
		}
	}
	res, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: "main", Message: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	g.end(res.RunID)
	if got := g.words("agent:main:home"); !slices.Equal(got, []string{"user: hi", "assistant: Again."}) {
		t.Errorf("got %q, want hi and its answer", got)
	}
	// The deleted chat can be restored. When it is removed permanently, its key means the main
	// chat.
	if _, err := g.Delete(t.Context(), protocol.SessionParams{SessionKey: chat}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Restore(t.Context(), protocol.SessionParams{SessionKey: chat}); err != nil {
		t.Fatal(err)
	}
	if words := g.words(chat); len(words) != 5 {
		t.Errorf("got %q, want 5 messages as before", words)
	}
	if _, err := g.Delete(t.Context(), protocol.SessionParams{SessionKey: chat}); err != nil {
		t.Fatal(err)
	}
	if n, err := g.store.Sessions.PurgeDeleted(t.Context(), now()+1); err != nil || n != 1 {
		t.Fatalf("got %d purged chats, error %v, want 1", n, err)
	}
	if got := g.Canonical(chat); got != "agent:main:home" {
		t.Errorf("got %s, want agent:main:home", got)
	}
	// After the setting is reverted, the old key is that of the main chat again.
	g.set(func(c *config.Config) { c.Session.MainKey = "main" })
	if got := g.Canonical("agent:main:home"); got != "agent:main:home" {
		t.Errorf("got %s, want agent:main:home", got)
	}
	if got := g.Canonical("main"); got != chat {
		t.Errorf("got %s, want %s", got, chat)
	}
}

func TestAnEmptyMainChatLeavesNothingBehind(t *testing.T) {
	g := start(t)
	if _, err := g.store.Sessions.Ensure(t.Context(), chat, 1); err != nil {
		t.Fatal(err)
	}
	g.set(func(c *config.Config) { c.Session.MainKey = "home" })
	if err := g.mainKeyChanged(t.Context()); err != nil {
		t.Fatal(err)
	}
	if words := g.words(chat); len(words) != 0 {
		t.Errorf("got %q, want no messages", words)
	}
}

func TestDirectChatsOfAnotherScopeStayReachable(t *testing.T) {
	g := withModel(t, llmtest.Say("One."), llmtest.Say("x"))
	g.set(func(c *config.Config) { c.Session.DMScope = "per-channel-peer" })
	const key = protocol.SessionKey("agent:main:irc:dm:bob")
	res, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: key, Message: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	g.end(res.RunID)
	g.set(func(c *config.Config) { c.Session.DMScope = "main" })
	p, err := g.Preview(t.Context(), protocol.SessionPreviewParams{SessionKey: key})
	if err != nil || p.SessionKey != key || len(p.Messages) != 2 {
		t.Errorf("got %+v, error %v, want 2 messages of %s", p, err, key)
	}
	if _, got := g.Route("irc", "", "", "bob"); got != chat {
		t.Errorf("over the channel: got %s, want %s", got, chat)
	}
}

func TestAKeyNamesTheSameChatAfterScopeChangesAndARestart(t *testing.T) {
	const cli, bob = protocol.SessionKey("agent:main:cli:dm:main"), protocol.SessionKey("agent:main:irc:dm:bob")
	g := withModel(t, llmtest.Say("One."), llmtest.Say("Two."), llmtest.Say("Three."))
	say := func(key protocol.SessionKey, text string) {
		t.Helper()
		res, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: key, Message: text})
		if err != nil {
			t.Fatal(err)
		}
		g.end(res.RunID)
	}
	say(cli, "in the main chat")
	if got := g.Canonical(bob); got != chat {
		t.Errorf("before the change: got %s, want %s", got, chat)
	}
	scope := func(s string) { g.set(func(c *config.Config) { c.Session.DMScope = s }) }
	scope("per-channel-peer")
	say(bob, "in a chat of its own")
	scope("main")
	say(bob, "still there")
	want := map[protocol.SessionKey][]string{
		bob:  {"user: in a chat of its own", "assistant: Two.", "user: still there", "assistant: Three."},
		chat: {"user: in the main chat", "assistant: One."},
	}
	check := func(when string) {
		t.Helper()
		for key, chat := range map[protocol.SessionKey]protocol.SessionKey{bob: bob, cli: chat, "main": chat} {
			if got := g.Canonical(key); got != chat {
				t.Errorf("%s: %s names %s, want %s", when, key, got, chat)
			}
		}
		for key, words := range want {
			if got := g.words(key); !slices.Equal(got, words) {
				t.Errorf("%s: %s holds %q, want %q", when, key, got, words)
			}
		}
	}
	check("before the restart")
	g.cfg = *g.current.Load()
	g.restart(false, g.tower)
	check("after the restart")
}
