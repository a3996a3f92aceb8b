package session

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/tooltest"
)

// archived returns the content of an archive's file.
func (g *gateway) archived(name string) string {
	g.t.Helper()
	raw, err := os.ReadFile(filepath.Join(g.home, filepath.FromSlash(name)))
	if err != nil {
		g.t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		g.t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		g.t.Fatal(err)
	}
	return string(text)
}

// withModel starts a gateway whose chats are answered by a model and not by the built-in operator.
func withModel(t *testing.T, steps ...llmtest.Step) *gateway {
	t.Helper()
	g := &gateway{t: t, home: t.TempDir(), cfg: config.Default(), tower: &tooltest.Machine{}}
	g.cfg.Model.Provider, g.cfg.Model.ID = "test", "m"
	g.open(steps...)
	return g
}

const condensed = "<summary>They greeted.</summary><memories>- Ann grows tomatoes\nno fact\n- </memories>"

func compactParams(n int) protocol.SessionCompactParams {
	return protocol.SessionCompactParams{SessionKey: "main", KeepMessages: &n}
}

func TestCompactPutsASummaryInPlaceOfTheRest(t *testing.T) {
	g := withModel(t, llmtest.Say("Hello."), llmtest.Say("Hello again."), llmtest.Say(condensed), llmtest.Say("Fine."), llmtest.Say("Whole."))
	g.end(g.send("Hi, I grow tomatoes").RunID)
	g.end(g.send("Hi again").RunID)
	in := compactParams(2)
	in.Focus = "the garden"
	out, err := g.Compact(t.Context(), in)
	if err != nil || !out.OK || out.TrimmedMessages != 2 || out.KeptMessages != 2 || !strings.HasSuffix(out.ArchivedTo, ".jsonl.gz") {
		t.Fatalf("got %+v, error %v, want 2 messages archived, 2 retained", out, err)
	}
	if lines := strings.Split(strings.TrimSpace(g.archived(out.ArchivedTo)), "\n"); len(lines) != 2 || !strings.Contains(lines[0], "Hi, I grow tomatoes") {
		t.Errorf("got %q, want the first 2 messages", lines)
	}
	if ask := g.model.Requests()[2].Messages[0].Content.Text(); !strings.Contains(ask, "[person] Hi, I grow") || !strings.Contains(ask, "Dwell on this: the garden") || strings.Contains(ask, "again") {
		t.Errorf("got request %q, want the old messages and the focus", ask)
	}
	note, err := os.ReadFile(filepath.Join(g.home, "agents", "main", "memory", time.Now().In(g.settings.zone()).Format(time.DateOnly)+".md"))
	if err != nil || !strings.HasSuffix(string(note), "from agent:main:main\n\n- Ann grows tomatoes\n") {
		t.Errorf("got note %q, error %v, want Ann grows tomatoes", note, err)
	}
	p, err := g.Preview(t.Context(), protocol.SessionPreviewParams{SessionKey: chat, Notices: true})
	if err != nil || len(p.Messages) != 3 || p.MessageCount != 2 || p.Messages[0].Content.Text() != "Hi again" {
		t.Fatalf("got %+v, error %v, want 2 messages and a notice", p, err)
	}
	notice := p.Messages[2]
	if notice.Origin != protocol.OriginNotice || notice.Compaction == nil || notice.Compaction.Messages != 2 || !strings.Contains(notice.Content.Text(), "They greeted.") {
		t.Errorf("got %+v, want a notice of the summary", notice)
	}
	if back, err := g.Preview(t.Context(), protocol.SessionPreviewParams{SessionKey: chat, Before: 3}); err != nil || len(back.Messages) != 2 {
		t.Errorf("before it: got %+v, error %v, want the 2 archived messages", back, err)
	}
	g.end(g.send("Go on").RunID)
	asked := g.model.Requests()[3].Messages
	if len(asked) != 4 || !strings.Contains(asked[0].Content.Text(), "They greeted.") || !strings.HasSuffix(asked[1].Content.Text(), "\nHi again") || !strings.HasSuffix(asked[3].Content.Text(), "\nGo on") {
		t.Errorf("got %+v, want the summary and the messages after it", asked)
	}
	if r := g.send("/compact undo"); !strings.Contains(r.Response, "reads 2 messages again") {
		t.Errorf("got %+v, want 2 messages restored", r)
	}
	g.end(g.send("And now").RunID)
	if asked := g.model.Requests()[4].Messages; len(asked) != 7 || !strings.HasSuffix(asked[0].Content.Text(), "Hi, I grow tomatoes") {
		t.Errorf("got %+v, want all messages again", asked)
	}
	list, err := g.Archives(t.Context(), protocol.SessionParams{SessionKey: chat})
	if err != nil || len(list.Archives) != 1 || list.Archives[0].Kind != protocol.ArchiveCompact || list.Archives[0].ArchivedTo != out.ArchivedTo {
		t.Errorf("got %+v, error %v, want one archive", list, err)
	}
}

func TestASummaryIsReadHoweverManyMessagesFollow(t *testing.T) {
	g := withModel(t, llmtest.Say("Hello."), llmtest.Say(condensed), llmtest.Say("Fine."))
	g.model.Info.ContextWindow = 1_000_000
	g.end(g.send("Hi").RunID)
	if out, err := g.Compact(t.Context(), compactParams(1)); err != nil || out.TrimmedMessages != 1 {
		t.Fatalf("got %+v, error %v, want one archived message", out, err)
	}
	many := make([]protocol.Message, maxHistory)
	for i := range many {
		many[i] = protocol.Message{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text("more")}, Timestamp: time.Now().UnixMilli() + int64(i)}
	}
	if _, err := g.store.Messages.Append(t.Context(), chat, many...); err != nil {
		t.Fatal(err)
	}
	g.end(g.send("And now?").RunID)
	if asked := g.model.Requests()[2].Messages; len(asked) != maxHistory+3 || !strings.Contains(asked[0].Content.Text(), "They greeted.") {
		t.Errorf("got %d messages, the first %.200q, want %d with the summary", len(asked), asked[0].Content.Text(), maxHistory+3)
	}
}

func TestTheNoticeOfAShorteningIsNotCounted(t *testing.T) {
	g := withModel(t, llmtest.Say("1"), llmtest.Say("2"), llmtest.Say(condensed), llmtest.Say("3"), llmtest.Say(condensed))
	g.end(g.send("one").RunID)
	g.end(g.send("two").RunID)
	count := func(want int) {
		t.Helper()
		st, err := g.Stats(t.Context(), protocol.SessionParams{SessionKey: chat})
		if err != nil || st.MessageCount != want {
			t.Errorf("%d messages, want %d: %v", st.MessageCount, want, err)
		}
	}
	compact := func(n, trimmed, kept int) {
		t.Helper()
		out, err := g.Compact(t.Context(), compactParams(n))
		if err != nil || out.TrimmedMessages != trimmed || out.KeptMessages != kept {
			t.Errorf("%+v %v, want %d trimmed and %d kept", out, err, trimmed, kept)
		}
		count(kept)
	}
	count(4)
	compact(4, 0, 4)
	compact(2, 2, 2)
	compact(2, 0, 2) // the same compaction again changes nothing
	g.end(g.send("three").RunID)
	compact(2, 2, 2) // the first notice is archived with its messages
	if r, err := g.Uncompact(t.Context(), protocol.SessionParams{SessionKey: chat}); err != nil || r.Messages != 2 {
		t.Errorf("got %+v, error %v, want 2 messages", r, err)
	}
	count(4)
	if r, err := g.Uncompact(t.Context(), protocol.SessionParams{SessionKey: chat}); err != nil || r.Messages != 2 {
		t.Errorf("got %+v, error %v, want 2 messages", r, err)
	}
	count(6)
}

func TestTokensOfASummaryAreCounted(t *testing.T) {
	g := withModel(t, llmtest.Say("1").Usage(protocol.Usage{Input: 10, Output: 2, Total: 12}), llmtest.Say(condensed).Usage(protocol.Usage{Input: 300, Output: 40}))
	g.end(g.send("one").RunID)
	if _, err := g.Compact(t.Context(), compactParams(1)); err != nil {
		t.Fatal(err)
	}
	s, err := g.store.Sessions.Get(t.Context(), chat)
	if want := (protocol.Tokens{Input: 310, Output: 42, Total: 352}); err != nil || tokens(s.Usage) != want || s.ContextTokens != 0 {
		t.Errorf("got %+v, %d in the window, error %v, want %+v, 0", tokens(s.Usage), s.ContextTokens, err, want)
	}
}

func TestCompactNeedsNoModel(t *testing.T) {
	g := withModel(t, llmtest.Say("1"), llmtest.Say("2"), llmtest.Fail(protocol.ErrModel.With("down")))
	g.end(g.send("First wish").RunID)
	g.end(g.send("Second wish").RunID)
	r := g.send("/compact 1")
	if !strings.Contains(r.Response, "Replaced 2 messages with a summary and kept 2 messages") && !strings.Contains(r.Response, "Replaced 3 messages with a summary and kept 1 message") {
		t.Errorf("got %+v, want a summary of 2 or 3 messages", r)
	}
	p, _ := g.Preview(t.Context(), protocol.SessionPreviewParams{SessionKey: chat, Notices: true})
	if text := p.Messages[len(p.Messages)-1].Content.Text(); !strings.Contains(text, "First wish") {
		t.Errorf("got %q, want the first wish", text)
	}
	for _, bad := range []int{0, -1} {
		if _, err := g.Compact(t.Context(), compactParams(bad)); !errors.Is(err, protocol.ErrBadRequest) {
			t.Errorf("got %v; want the error protocol.ErrBadRequest", err)
		}
	}
	if out, err := g.Compact(t.Context(), protocol.SessionCompactParams{SessionKey: "main"}); err != nil || out.TrimmedMessages != 0 || out.KeptMessages == 0 {
		t.Errorf("got %+v, error %v, want nothing archived", out, err)
	}
}

func TestCompactWaitsForNoRun(t *testing.T) {
	g := start(t, llmtest.Call(bash, `{"command":"make"}`))
	g.send("Build")
	g.question()
	if _, err := g.Compact(t.Context(), compactParams(1)); !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("got %v; want the error protocol.ErrConflict", err)
	}
}

func TestRunCompactsItsChatAndRetainsTheGoal(t *testing.T) {
	long := strings.Repeat("word ", 1600) // about 2,000 tokens
	steps := []llmtest.Step{}
	for i := range 3 {
		steps = append(steps, llmtest.Call("tower__Read", fmt.Sprintf(`{"path":"%d"}`, i)).Usage(protocol.Usage{Input: int64(100 + 2100*i), Total: int64(100 + 2100*i)}))
	}
	steps = append(steps, llmtest.Say("<summary>Read two files.</summary>"), llmtest.Say("Done."))
	machine := &tooltest.Machine{Run: func(protocol.ToolInvoke, <-chan struct{}) (any, error) { return long, nil }}
	g := &gateway{t: t, home: t.TempDir(), cfg: config.Default(), tower: machine}
	g.cfg.Model.Provider, g.cfg.Model.ID = "test", "m"
	g.cfg.Compaction.ReserveTokens, g.cfg.Compaction.KeepRecentTokens = 2000, 3000
	g.open(steps...)
	g.model.Info.ContextWindow = 8000
	g.end(g.send("Read all files, please").RunID)
	asked := g.model.Requests()
	last := asked[len(asked)-1].Messages
	if !strings.Contains(last[0].Content.Text(), "Read two files.") || !strings.Contains(last[0].Content.Text(), "word for word:\nRead all files, please") {
		t.Errorf("got %.300s, want the summary and the request word for word", last[0].Content.Text())
	}
	for i, msg := range last {
		for range msg.Content.Calls() {
			if last[i+1].Role != protocol.RoleToolResult {
				t.Errorf("got a call without its result in %+v, want both", last)
			}
		}
	}
	if len(last) > 6 {
		t.Errorf("got %d messages, want at most 6", len(last))
	}
}

// TestChatWithALongMessageIsCompacted: preferring the position before a message of
// the person must not retain a message that fills the window.
func TestChatWithALongMessageIsCompacted(t *testing.T) {
	g := &gateway{t: t, home: t.TempDir(), cfg: config.Default(), tower: &tooltest.Machine{}}
	g.cfg.Model.Provider, g.cfg.Model.ID = "test", "m"
	g.cfg.Compaction.ReserveTokens, g.cfg.Compaction.KeepRecentTokens = 4000, 6000
	g.open(llmtest.Say("Hello."), llmtest.Say("I have read it.").Usage(protocol.Usage{Input: 21_000, Total: 21_000}), llmtest.Say("<summary>Half.</summary>"), llmtest.Say("<summary>A long text.</summary>"), llmtest.Say("Done."))
	g.model.Info.ContextWindow = 24_000
	g.end(g.send("Hi").RunID)
	g.end(g.send("Read this: " + strings.Repeat("word ", 14_000)).RunID) // about 17,500 tokens
	if e := g.end(g.send("And now?").RunID); e.State != protocol.ChatFinal || e.Message.Content.Text() != "Done." {
		t.Fatalf("got %+v, want Done.", e)
	}
	asked := g.model.Requests()
	last := asked[len(asked)-1].Messages
	if !strings.Contains(last[0].Content.Text(), "A long text.") || len(last) != 3 || !strings.HasSuffix(last[2].Content.Text(), "And now?") {
		t.Errorf("got %d messages, %.300s, want the summary and the last ones", len(last), last[0].Content.Text())
	}
}

func TestAnOverflowShortensOnceAndTriesAgain(t *testing.T) {
	over := llmtest.Fail(protocol.ErrContextOverflow.With("too long"))
	g := withModel(t, llmtest.Say("1"), llmtest.Say("2"), over, llmtest.Say("<summary>Two wishes.</summary>"), llmtest.Say("3"),
		over, llmtest.Say("<summary>More.</summary>"), over)
	g.model.Info.ContextWindow = 0
	for _, text := range []string{"one", "two"} {
		g.end(g.send(text).RunID)
	}
	if e := g.end(g.send("three").RunID); e.State != protocol.ChatFinal || e.Message.Content.Text() != "3" {
		t.Fatalf("got %+v, want 3", e)
	}
	if e := g.end(g.send("four").RunID); e.State != protocol.ChatErrState || !strings.Contains(e.Error, "too long") {
		t.Errorf("got %+v, want a chat that is too long", e)
	}
	if n := g.model.Left(); n != 0 {
		t.Errorf("got %d unused steps, want none", n)
	}
}
