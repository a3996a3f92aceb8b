package session

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

func TestCanonicalFollowsTheTableOfKeys(t *testing.T) {
	for key, want := range map[protocol.SessionKey]protocol.SessionKey{
		"": chat, "main": chat, " MAIN ": chat, "agent:main:main": chat, "agent:Main:MAIN": chat, "agent::main": chat,
		// direct conversations, in every scope's spelling
		"agent:main:dm:ann":                   chat,
		"agent:main:cli:dm:main":              chat,
		"agent:main:whatsapp:default:dm:+491": chat,
		"agent:main:whatsapp:dm:a:b":          chat,
		"agent:Work:cli:dm:main":              "agent:work:main",
		// everything else
		"agent:main:whatsapp:group:1":           "agent:main:whatsapp:group:1",
		"agent:main:cron:job":                   "agent:main:cron:job",
		"agent:main:heartbeat:system:internal":  "agent:main:heartbeat:system:internal",
		"agent:main:app:chat:0190-ab":           "agent:main:app:chat:0190-ab",
		"agent:main:whatsapp:group:x:thread:dm": "agent:main:whatsapp:group:x:thread:dm",
		"my-notes":                              "my-notes",
		"agent:main":                            "agent:main",
	} {
		if got := Canonical(key); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
		if again := Canonical(want); again != want {
			t.Errorf("%q is not stable: %q", want, again)
		}
	}
	if k := newKey(); Canonical(k) != k {
		t.Error(k)
	}
}

func TestEveryRunEndsExactlyOnce(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := start(t)
			for range 40 { // each step either ends by itself or asks
				g.model.Add(llmtest.Say("Hm ").Say("done."), llmtest.Call(bash, `{"command":"make"}`), llmtest.Say("x").Fail(protocol.ErrModel.With("broken")))
			}
			rnd := rand.New(rand.NewPCG(seed, 1))
			var mu sync.Mutex
			var sent []protocol.RunID
			var wg sync.WaitGroup
			for range 3 {
				moves := rnd.Perm(10)
				wg.Go(func() {
					for _, n := range moves {
						switch {
						case n < 6:
							text := "hello"
							if n == 0 {
								text = "!ls"
							}
							res, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: chat, Message: text})
							if err != nil {
								t.Error(err)
							}
							mu.Lock()
							sent = append(sent, res.RunID)
							mu.Unlock()
						case n < 8:
							mu.Lock()
							id := protocol.RunID("")
							if len(sent) > 0 && n == 6 {
								id = sent[len(sent)/2]
							}
							mu.Unlock()
							if _, err := g.Cancel(t.Context(), protocol.ChatCancelParams{SessionKey: chat, RunID: id}); err != nil {
								t.Error(err)
							}
						case n == 8:
							if _, err := g.Reset(t.Context(), protocol.SessionParams{SessionKey: chat}); err != nil {
								t.Error(err)
							}
						default:
							g.SetPaused(true)
							g.SetPaused(false)
						}
					}
				})
			}
			wg.Wait()
			// What is left waits for a person or in the queue.
			if _, err := g.Reset(t.Context(), protocol.SessionParams{SessionKey: chat}); err != nil {
				t.Fatal(err)
			}
			ends := map[protocol.RunID]int{}
			for len(ends) < len(sent) {
				ends[*g.until(terminal).Chat.RunID]++
			}
			// The next message's end comes after any end too many.
			g.model.Add(llmtest.Say("Last."))
			for g.model.Left() > 1 {
				llmtest.Collect(t.Context(), g.model, llm.Request{})
			}
			last := g.send("last")
			g.until(func(c protocol.Change) bool {
				if terminal(c) {
					ends[*c.Chat.RunID]++
				}
				return terminal(c) && *c.Chat.RunID == last.RunID
			})
			for _, id := range sent {
				if ends[id] != 1 {
					t.Errorf("run %s ended %d times", id, ends[id])
				}
			}
			g.check("user: last", "assistant: Last.")
			g.noneOpen()
		})
	}
}

func TestResetArchivesAndDropsGrants(t *testing.T) {
	g := start(t, llmtest.Call(bash, `{"command":"make"}`), llmtest.Say("Built."))
	res := g.send("Build it")
	g.allow(g.question(), protocol.ScopeSession)
	g.end(res.RunID)
	if grants, _ := g.store.Grants(t.Context(), chat); len(grants) != 1 {
		t.Fatalf("%+v", grants)
	}
	out, err := g.Reset(t.Context(), protocol.SessionParams{SessionKey: "main"})
	if err != nil || !out.OK || out.SessionKey != chat || out.ArchivedMessages != 4 || out.OldSessionID == out.NewSessionID || out.TokensCleared.Total == 0 {
		t.Errorf("%+v %v", out, err)
	}
	raw, err := os.ReadFile(filepath.Join(g.home, filepath.FromSlash(out.ArchivedTo)))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	var first protocol.Message
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || len(lines) != 4 || first.Content.Text() != "Build it" {
		t.Errorf("%v %q", err, raw)
	}
	if grants, _ := g.store.Grants(t.Context(), chat); len(grants) != 0 {
		t.Errorf("%+v", grants)
	}
	g.check()
	h, err := g.History(t.Context(), protocol.SessionParams{SessionKey: chat})
	if err != nil || h.CurrentSessionID != out.NewSessionID || !slices.Equal(h.PreviousSessionIDs, []protocol.SessionID{out.OldSessionID}) {
		t.Errorf("%+v %v", h, err)
	}
}

func TestResetStopsWhatRunsAndWaits(t *testing.T) {
	g := start(t, llmtest.Call(bash, `{"command":"make"}`))
	first, second := g.send("1"), g.send("2")
	g.question()
	if res := g.send("/reset"); res.Status != protocol.ChatCommand || res.Command != "reset" || res.Error != "" {
		t.Errorf("%+v", res)
	}
	states := map[protocol.RunID]string{}
	for len(states) < 2 {
		e := g.until(terminal).Chat
		states[*e.RunID] = e.State
	}
	if states[first.RunID] != protocol.ChatErrState || states[second.RunID] != protocol.ChatErrState {
		t.Errorf("%+v", states)
	}
	g.check()
	g.noneOpen()
}

func TestMessageDuringAResetStartsAfterIt(t *testing.T) {
	g := start(t, llmtest.Say("Hello."))
	if err := g.quiet(t.Context(), chat); err != nil {
		t.Fatal(err)
	}
	if err := g.quiet(t.Context(), chat); err != nil { // a second reset at the same time
		t.Fatal(err)
	}
	res := g.send("hello")
	g.unblock(chat)
	if !res.Queued || len(g.model.Requests()) != 0 {
		t.Errorf("it began in a chat that is being reset: %+v", res)
	}
	st, err := g.Stats(t.Context(), protocol.SessionParams{SessionKey: chat})
	if err != nil || st.IsProcessing {
		t.Error("one of two resets let it begin", err)
	}
	g.unblock(chat)
	g.end(res.RunID)
}

func TestDeletedChatComesBack(t *testing.T) {
	g := start(t, llmtest.Say("Hello."))
	e, err := g.Create(t.Context(), protocol.SessionCreateParams{Label: "Garden"})
	if err != nil {
		t.Fatal(err)
	}
	key := protocol.SessionParams{SessionKey: e.SessionKey}
	if _, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: e.SessionKey, Message: "Hi"}); err != nil {
		t.Fatal(err)
	}
	g.until(terminal)
	del, err := g.Delete(t.Context(), key)
	if err != nil || !del.OK || del.UndoUntil == 0 {
		t.Fatal(del, err)
	}
	if list, err := g.List(t.Context(), protocol.SessionsListParams{}); err != nil || list.Count != 0 {
		t.Error(list, err)
	}
	if _, err := g.Restore(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	list, err := g.List(t.Context(), protocol.SessionsListParams{})
	if err != nil || list.Count != 1 || list.Sessions[0].Title != "Garden" || list.Sessions[0].MessageCount != 2 {
		t.Error(list, err)
	}
	if _, err := g.Restore(t.Context(), protocol.SessionParams{SessionKey: "agent:main:app:chat:gone"}); !errors.Is(err, protocol.ErrNotFound) {
		t.Error(err)
	}
	if _, err := g.Delete(t.Context(), protocol.SessionParams{SessionKey: "agent:main:app:chat:gone"}); !errors.Is(err, protocol.ErrNotFound) {
		t.Error(err)
	}
}

func picture(t *testing.T) string {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestImagesAreKeptByTheirContent(t *testing.T) {
	g := start(t, llmtest.Say("A square."), llmtest.Say("Again."))
	data := picture(t)
	for _, name := range []string{"a.png", "b.png"} {
		res, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: chat, Message: "What is it?",
			Attachments: []protocol.Attachment{{Filename: name, MimeType: "image/jpeg", Data: data}}})
		if err != nil {
			t.Fatal(err)
		}
		g.end(res.RunID)
	}
	files, err := os.ReadDir(filepath.Join(g.home, "media"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	msgs, _ := g.store.Messages(t.Context(), chat, 0, 0)
	block := msgs[0].Content[1]
	if block.Data != "" || block.MimeType != "image/png" || block.MediaKey != "media/"+files[0].Name() || block.Filename != "a.png" {
		t.Errorf("%+v", block)
	}
	got, err := g.Media(t.Context(), protocol.MediaGetParams{Key: block.MediaKey})
	if err != nil || got.Data != data || got.MimeType != "image/png" {
		t.Error(got, err)
	}
	if seen := g.model.Requests()[1].Messages[0].Content[1]; seen.Data != data {
		t.Error("the model does not see it in the next message")
	}
	for _, key := range []string{"", "media/../fairlead.db", "../fairlead.db", "media/" + strings.Repeat("0", 64) + ".png"} {
		if _, err := g.Media(t.Context(), protocol.MediaGetParams{Key: key}); err == nil {
			t.Errorf("%q was read", key)
		}
	}
}

func TestWhatIsNoImageIsRefused(t *testing.T) {
	g := start(t)
	for name, data := range map[string]string{"text": base64.StdEncoding.EncodeToString([]byte("hello")), "base64": "%%%",
		"big": base64.StdEncoding.EncodeToString(make([]byte, maxImage+1))} {
		_, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: chat, Message: "x", Attachments: []protocol.Attachment{{Filename: "f", Data: data}}})
		if err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	g.noneOpen()
}

func TestSlashCommands(t *testing.T) {
	g := start(t)
	for _, c := range []struct{ text, command, response, err string }{
		{"/help", "help", "/reset", ""},
		{"/status", "status", "State: idle, 0 messages waiting", ""},
		{"/model", "model", "Model: ", ""},
		{"/model Test/Big", "model", "Model: test/Big", ""},
		{"/model small", "model", "Model: test/small", ""},
		{"/model a b", "model", "", "without spaces"},
		{"/think", "think", "left to the model", ""},
		{"/think med", "think", "Thinking: medium", ""},
		{"/t max", "think", "Thinking: xhigh", ""},
		{"/thinking deep", "think", "", "not \"deep\""},
		{"/compact", "compact", "", "not part"},
		{"  /stop ", "stop", "No run in progress.", ""},
		{"/NEW", "reset", "0 messages archived", ""},
	} {
		res := g.send(c.text)
		if res.Status != protocol.ChatCommand || res.Command != c.command || !strings.Contains(res.Response, c.response) || !strings.Contains(res.Error, c.err) ||
			(c.err == "") != (res.Error == "") {
			t.Errorf("%s: %+v", c.text, res)
		}
	}
	s, err := g.Get(t.Context(), protocol.SessionParams{})
	if err != nil || *s.Settings.Model != (protocol.ModelRef{Provider: "test", ID: "small"}) || s.Settings.ThinkingLevel != "xhigh" {
		t.Errorf("%+v %v", s, err)
	}
	g.check()
	g.model.Add(llmtest.Say("I do not know that."))
	if res := g.send("/frobnicate now"); res.Status != protocol.ChatStarted {
		t.Errorf("an unknown command is a message: %+v", res)
	}
	if _, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: chat, Message: " \n"}); !errors.Is(err, protocol.ErrBadRequest) {
		t.Error(err)
	}
}

func TestDirectivesHoldForOneMessageAndKeepItsLines(t *testing.T) {
	g := start(t, llmtest.Say("one"), llmtest.Say("two"))
	res := g.send("/think:high /model:Test/Big look:\n\n  func f() {\n\t}\n")
	if res.Directives == nil || res.Directives.ThinkLevel != "high" || *res.Directives.Model != (protocol.ModelRef{Provider: "test", ID: "Big"}) {
		t.Errorf("%+v", res)
	}
	g.end(res.RunID)
	g.end(g.send("and now").RunID)
	g.check("user: look:\n\n  func f() {\n\t}", "assistant: one", "user: and now", "assistant: two")
	if r := g.model.Requests(); r[0].Thinking != "high" || r[1].Thinking != "" {
		t.Errorf("%q %q", r[0].Thinking, r[1].Thinking)
	}
	if res := g.send("/think:high"); res.Status != protocol.ChatDirectiveOnly {
		t.Errorf("%+v", res)
	}
	for text, want := range map[string]string{
		"a /t:low b":             "a  b",
		"see /think:deep":        "see /think:deep",
		"http://x/t:low":         "http://x/t:low",
		"/m:justid hi":           "/m:justid hi",
		"first\n/t:low\nsecond":  "first\n\nsecond",
		"  indented\n  /t:low x": "indented\n   x",
	} {
		if rest, _ := g.directives(text); rest != want {
			t.Errorf("%q: %q, want %q", text, rest, want)
		}
	}
}

func TestDecisionsAreOneWordOrANoWithAReason(t *testing.T) {
	for text, want := range map[string]string{
		"yes": "allow", "Yes.": "allow", " OK ": "allow", "yes please": "allow", "y": "allow", "approved!": "allow",
		"no": "deny:", "No, use ninja": "deny:use ninja", "deny": "deny:", "rejected: too risky": "deny:too risky",
		"yes but first look": "", "maybe": "", "yesterday": "", "nothing": "", "": "", "no\nsecond line": "",
	} {
		allow, reason, ok := decision(text)
		got := ""
		if ok && allow {
			got = "allow"
		} else if ok {
			got = "deny:" + reason
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
