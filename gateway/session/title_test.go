package session

import (
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

// entry returns the chat as lists show it.
func (g *gateway) entry(key protocol.SessionKey) protocol.SessionEntry {
	g.t.Helper()
	s, err := g.store.Sessions.Get(g.t.Context(), key)
	if err != nil {
		g.t.Fatal(err)
	}
	return g.Chats.entry(s)
}

func titled(t *testing.T, steps ...llmtest.Step) *gateway {
	t.Helper()
	g := start(t, steps...)
	g.set(func(c *config.Config) { c.Session.AutoTitle, c.Model.Provider = true, "scripted" })
	return g
}

func (g *gateway) untilTitle(title string) {
	g.t.Helper()
	g.until(func(c protocol.Change) bool { return c.Kind == protocol.ChangeSession && c.Session.Title == title })
}

func TestModelNamesAChatAfterTheFirstExchange(t *testing.T) {
	t.Parallel()
	g := titled(t, llmtest.Say("A nut was loose."), llmtest.Say("\"Lärm im Getriebe.\"\n\nThat is all."), llmtest.Say("Yes."))
	g.send("**why** does the gearbox rattle")
	g.untilTitle("Lärm im Getriebe")
	requests := g.model.Requests()
	if len(requests) != 2 || len(requests[1].Tools) > 0 || !strings.Contains(requests[1].Messages[0].Content.Text(), "gearbox rattle") {
		t.Errorf("got %d requests, the second with %d tools, want 2, 0", len(requests), len(requests[1].Tools))
	}
	if got := g.entry(chat).Usage.Total; got != 30 {
		t.Errorf("the chat counts %d tokens, want 30: also those of the title", got)
	}
	g.end(g.send("And now?").RunID)
	g.sessions.Close()
	if n := len(g.model.Requests()); n != 3 {
		t.Errorf("%d requests, want 3: the chat has a title", n)
	}
}

func TestOnlyThePersonsMessagesNameAChat(t *testing.T) {
	t.Parallel()
	g := titled(t, llmtest.Say("Nothing to do."))
	res, err := g.Send(t.Context(), auth.Schedule("heartbeat"), protocol.ChatSendParams{SessionKey: chat, Message: "Look around"})
	if err != nil {
		t.Fatal(err)
	}
	g.end(res.RunID)
	g.sessions.Close()
	if n := len(g.model.Requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

func TestATitleOfThePersonStays(t *testing.T) {
	t.Parallel()
	g := titled(t, llmtest.Say("A nut was loose."))
	own := "Gearbox"
	if _, err := g.Patch(t.Context(), protocol.SessionPatchParams{SessionKey: chat, Label: &own}); err != nil {
		t.Fatal(err)
	}
	g.end(g.send("why does it rattle").RunID)
	g.sessions.Close()
	if got, n := g.entry(chat).Title, len(g.model.Requests()); got != own || n != 1 {
		t.Errorf("title %q after %d requests, want %q after 1", got, n, own)
	}
}

func TestWithoutATitleOfTheModelTheFirstWordsNameAChat(t *testing.T) {
	t.Parallel()
	g := start(t, llmtest.Say("A nut was loose."))
	g.end(g.send("> why does `gearbox`\nof the old grey car rattle when it is cold outside in the morning").RunID)
	g.sessions.Close()
	want := "why does gearbox of the old grey car rattle when it is cold…"
	if got, n := g.entry(chat).Title, len(g.model.Requests()); got != want || n != 1 {
		t.Errorf("title %q after %d requests, want %q after 1", got, n, want)
	}
}

func TestArchivingHidesAChatUntilThePersonWritesAgain(t *testing.T) {
	t.Parallel()
	g := start(t, llmtest.Say("One."), llmtest.Say("Two."))
	g.end(g.send("one").RunID)
	yes, tags := true, []string{" work ", "home", "", "work"}
	for _, in := range []protocol.SessionPatchParams{{Pinned: &yes, Tags: &tags}, {Archived: &yes}} {
		in.SessionKey = chat
		if _, err := g.Patch(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	if e := g.entry(chat); !e.Archived || e.Pinned || !slices.Equal(e.Tags, []string{"home", "work"}) {
		t.Errorf("after archiving: got archived %v, pinned %v, tags %q, want true, false, home and work", e.Archived, e.Pinned, e.Tags)
	}
	g.end(g.send("two").RunID)
	if e := g.entry(chat); e.Archived || len(e.Tags) != 2 {
		t.Errorf("after a message: got archived %v, tags %q, want false, both", e.Archived, e.Tags)
	}
}
