package session

import (
	"errors"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

func TestSlashCommands(t *testing.T) {
	g := start(t)
	for _, c := range []struct{ text, command, response, err string }{
		{"/help", "help", "/reset", ""},
		{"/status", "status", "State: idle, 0 messages waiting", ""},
		{"/model", "model", "Model: ", ""},
		{"/model Test/Big", "model", "Model: test/Big", ""},
		{"/model small", "model", "Model: test/small", ""},
		{"/model a b", "model", "", "without spaces"},
		{"/model x/", "model", "", "PROVIDER/ID"},
		{"/m other", "model", "Model: test/other", ""},
		{"/m:", "model", "Model: test/other", ""},
		{"/m:x/", "model", "", "PROVIDER/ID"},
		{"/model small", "model", "Model: test/small", ""},
		{"/think", "think", "the model's default", ""},
		{"/think med", "think", "Thinking: medium", ""},
		{"/t max", "think", "Thinking: xhigh", ""},
		{"/thinking deep", "think", "", "not \"deep\""},
		{"/t:deep", "think", "", "not \"deep\""},
		{"/mode:ask", "mode", "Mode: ask", ""},
		{"/compact:undo", "compact", "no summary to undo", ""},
		{"/compact", "compact", "Nothing to shorten.", ""},
		{"/compact undo", "compact", "no summary to undo", ""},
		{"/compact 0", "compact", "", "1 or more"},
		{"  /stop ", "stop", "No run in progress.", ""},
		{"/NEW", "reset", "The chat was reset. 0 messages archived.", ""},
	} {
		t.Run(c.text, func(t *testing.T) {
			res := g.send(c.text)
			if res.Status != protocol.ChatCommand || res.Command != c.command || !strings.Contains(res.Response, c.response) || !strings.Contains(res.Error, c.err) ||
				(c.err == "") != (res.Error == "") {
				t.Errorf("%s: got %+v, want the command %s", c.text, res, c.command)
			}
		})
	}
	s, err := g.Get(t.Context(), protocol.SessionParams{})
	if err != nil || *s.Settings.Model != (protocol.ModelRef{Provider: "test", ID: "small"}) || s.Settings.ThinkingLevel != "xhigh" {
		t.Errorf("got %+v, error %v, want the model small and xhigh", s, err)
	}
	g.check()
	g.model.Add(llmtest.Say("I do not know that."))
	if res := g.send("/frobnicate now"); res.Status != protocol.ChatStarted {
		t.Errorf("an unknown command: got %+v, want a message", res)
	}
	if _, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: chat, Message: " \n"}); !errors.Is(err, protocol.ErrBadRequest) {
		t.Errorf("got %v; want the error protocol.ErrBadRequest", err)
	}
}

// TestProviderAndModelCanBeSetSeparately: GSV's command line sets provider and ID one after the
// other.
func TestProviderAndModelCanBeSetSeparately(t *testing.T) {
	g := start(t)
	set := func(p protocol.ModelPatch, want, status string) {
		t.Helper()
		if _, err := g.Patch(t.Context(), protocol.SessionPatchParams{SessionKey: chat, Settings: &protocol.SessionPrefsPatch{Model: &p}}); err != nil {
			t.Fatal(err)
		}
		s, err := g.Get(t.Context(), protocol.SessionParams{SessionKey: chat})
		got := ""
		if s.Settings.Model != nil {
			got = s.Settings.Model.String()
		}
		if err != nil || got != want {
			t.Errorf("%s %v, want %s", got, err, want)
		}
		if res := g.send("/model"); res.Response != "Model: "+status {
			t.Errorf("%s, want %s", res.Response, status)
		}
	}
	whole := strings.TrimPrefix(g.send("/model").Response, "Model: ")
	provider, _, _ := strings.Cut(whole, "/")
	set(protocol.ModelPatch{Provider: new("other")}, "other/", whole)
	set(protocol.ModelPatch{ID: new("big")}, "other/big", "other/big")
	set(protocol.ModelPatch{Provider: new(""), ID: new("")}, "", whole)
	set(protocol.ModelPatch{ID: new("small")}, provider+"/small", provider+"/small")
}

func TestOversizedSettingsAreRefused(t *testing.T) {
	g := start(t, llmtest.Say("ok"))
	long, huge := strings.Repeat("x", maxModel+1), strings.Repeat("x", maxPrompt+1)
	for name, p := range map[string]protocol.SessionPrefsPatch{
		"prompt": {SystemPrompt: &huge}, "model": {Model: &protocol.ModelPatch{ID: &long}}, "provider": {Model: &protocol.ModelPatch{Provider: &long}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := g.Patch(t.Context(), protocol.SessionPatchParams{SessionKey: chat, Settings: &p}); err == nil || len(err.Error()) > 200 {
				t.Errorf("%s: got %v; want the error of length at most 200", name, err)
			}
		})
	}
	if res := g.send("/model x/" + long); res.Error == "" {
		t.Errorf("got %.200s, want an error", res.Response)
	}
	res := g.send("/model:x/" + long + " hello")
	if res.Directives != nil {
		t.Error("a name of a model without end is one")
	}
	g.end(res.RunID)
}

func TestOversizedMessageIsRefused(t *testing.T) {
	g := start(t)
	_, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: chat, Message: strings.Repeat("x", maxMessage+1)})
	if !errors.Is(err, protocol.ErrTooLarge) || !strings.Contains(err.Error(), "put it into a file") {
		t.Errorf(`got %v; want error ErrTooLarge and an error with "put it into a file"`, err)
	}
}

func TestDirectivesHoldForOneMessageAndKeepItsLines(t *testing.T) {
	g := start(t, llmtest.Say("one"), llmtest.Say("two"))
	res := g.send("/think:high /model:Test/Big look:\n\n  func f() {\n\t}\n")
	if res.Directives == nil || res.Directives.ThinkLevel != "high" || *res.Directives.Model != (protocol.ModelRef{Provider: "test", ID: "Big"}) {
		t.Errorf("got %+v, want both directives", res)
	}
	g.end(res.RunID)
	g.end(g.send("and now").RunID)
	g.check("user: look:\n\n  func f() {\n\t}", "assistant: one", "user: and now", "assistant: two")
	if r := g.model.Requests(); r[0].Thinking != "high" || r[1].Thinking != "" {
		t.Errorf("got thinking %q, %q, want high for the first message alone", r[0].Thinking, r[1].Thinking)
	}
	g.model.Add(llmtest.Say("three"))
	provider, _, _ := strings.Cut(strings.TrimPrefix(g.send("/model").Response, "Model: "), "/")
	res = g.send("/model:Small and then")
	if want := (protocol.ModelRef{Provider: provider, ID: "Small"}); res.Directives == nil || *res.Directives.Model != want {
		t.Errorf("%+v, want %s", res.Directives, want)
	}
	if e := g.end(res.RunID); e.Message == nil || e.Message.Provider != provider || e.Message.Model != "Small" {
		t.Errorf("got %+v, want an answer of %s Small", e, provider)
	}
	for _, text := range []string{"/think:high", "/t:2", "/m:foo", " /model:foo ", "/t:low /m:foo", "/M:Test/Big"} {
		if res := g.send(text); res.Status != protocol.ChatDirectiveOnly || res.Directives == nil {
			t.Errorf("%q: got %+v, want directives only", text, res)
		}
	}
	res = g.send("hello /m:Small")
	if want := (protocol.ModelRef{Provider: provider, ID: "Small"}); res.Directives == nil || *res.Directives.Model != want {
		t.Errorf("model at the end of a message: got %+v, want %s", res.Directives, want)
	}
	g.end(res.RunID)
	for text, want := range map[string]string{
		"a /t:low b":             "a  b",
		"see /think:deep":        "see /think:deep",
		"http://x/t:low":         "http://x/t:low",
		"/m:justid hi":           "hi",
		"/t:low /m:justid hi":    "hi",
		"/t:low run nmake /m:4":  "run nmake /m:4",
		"msbuild /m:4 /t:Build":  "msbuild /m:4 /t:Build",
		"/model:justid hi":       "hi",
		"hello /m:foo":           "hello",
		"hello /m:foo there":     "hello  there",
		"hello /t:1 /M:foo":      "hello",
		"/m:a hello /m:b":        "hello /m:b",
		"hello /model:4":         "hello",
		"/model:/x hi":           "/model:/x hi",
		"/model:x/ hi":           "/model:x/ hi",
		"/m:x/y/z hi":            "hi",
		"first\n/t:low\nsecond":  "first\n\nsecond",
		"  indented\n  /t:low x": "indented\n   x",
	} {
		if rest, _ := parseDirectives(text); rest != want {
			t.Errorf("%q: %q, want %q", text, rest, want)
		}
	}
}

func TestTheModeOfAChatEndsInThePersonsZone(t *testing.T) {
	g := start(t)
	for _, name := range []string{"Pacific/Auckland", "America/Chicago"} {
		t.Run(name, func(t *testing.T) {
			g.set(func(c *config.Config) { c.UserTimezone = name })
			zone, err := time.LoadLocation(name)
			if err != nil {
				t.Fatal(err)
			}
			g.send("/mode trust 30")
			s, err := g.Get(t.Context(), protocol.SessionParams{SessionKey: chat})
			if err != nil {
				t.Fatal(err)
			}
			want := "Mode: trust until " + time.UnixMilli(s.Settings.Approvals.Until).In(zone).Format("15:04")
			if res := g.send("/mode"); res.Response != want {
				t.Errorf("%q, want %q", res.Response, want)
			}
		})
	}
}

func TestTrustNeedsAMachineThatProtects(t *testing.T) {
	machine := func(name string, protects bool) protocol.NodeInfo {
		checks := []protocol.EnforcedCheck{{ID: protocol.ProtectedCheck, Enforced: protects, Why: "no mount name spaces"}}
		return protocol.NodeInfo{Name: name, Online: true, Host: &protocol.HostInfo{Enforcement: &protocol.Enforcement{Checks: checks}}}
	}
	for name, c := range map[string]struct {
		nodes   []protocol.NodeInfo
		refused bool
	}{
		"no machine":    {nil, false},
		"protected":     {[]protocol.NodeInfo{machine("desk", true)}, false},
		"one of two":    {[]protocol.NodeInfo{machine("desk", true), machine("pi", false)}, false},
		"not protected": {[]protocol.NodeInfo{machine("pi", false)}, true},
	} {
		in := &protocol.SessionPrefsPatch{Approvals: &protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: now() + 60_000}}
		err := checkSettings(in, func() []protocol.NodeInfo { return c.nodes })
		if (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), "pi (no mount name spaces)") {
			t.Errorf("%s: got %v, want a refusal that says what is missing: %v", name, err, c.refused)
		}
		in.Approvals.Mode = protocol.ModeAcceptEdits
		if err := checkSettings(in, func() []protocol.NodeInfo { return c.nodes }); err != nil {
			t.Errorf("%s, accept-edits: got %v, want no refusal", name, err)
		}
	}
}

func TestDecisionsAreOneWordOrANoWithAReason(t *testing.T) {
	for text, want := range map[string]string{
		"yes": "allow", "Yes.": "allow", " OK ": "allow", "yes please": "allow", "y": "allow", "approved!": "allow",
		"no": "deny:", "No, use ninja": "deny:use ninja", "deny": "deny:", "rejected: too risky": "deny:too risky",
		"yes but first look": "", "maybe": "", "yesterday": "", "nothing": "", "": "", "no\nsecond line": "",
	} {
		allow, reason, ok := parseAnswer(text)
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
