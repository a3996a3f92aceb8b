package config

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

type memory map[string]json.RawMessage

func (m memory) All(context.Context) (map[string]json.RawMessage, error) {
	return maps.Clone(m), nil
}

func (m memory) Put(_ context.Context, values map[string]json.RawMessage) error {
	for key, v := range values {
		if v == nil {
			delete(m, key)
		} else {
			m[key] = v
		}
	}
	return nil
}

func open(t *testing.T, b memory, dir string) *Store {
	t.Helper()
	t.Setenv("FAIRLEAD_SECRETS", "file")
	s, problems, err := Open(t.Context(), b, keychain.Open(dir))
	if err != nil || len(problems) > 0 {
		t.Fatalf("got %v, %v; want no problems and no error", err, problems)
	}
	return s
}

func TestDefaultsAskAndAnswerWithoutAKey(t *testing.T) {
	c := open(t, memory{}, t.TempDir()).Get()
	if c.ToolApproval.DefaultDecision != "ask" || c.Model.Provider != "operator" || c.Approvals.Timeout != 300_000 || c.Timeouts.Tool != 600_000 {
		t.Errorf(`defaults = %+v; want ToolApproval.DefaultDecision "ask", Model.Provider "operator", Approvals.Timeout 300_000 and Timeouts.Tool 600_000`, c)
	}
}

func TestSetChecksTypesAndNamesValidValues(t *testing.T) {
	s := open(t, memory{}, t.TempDir())
	for _, c := range []struct{ path, value, want string }{
		{"timeouts.toolMs", `"abc"`, "a whole number from 1000 to 86400000"},
		{"timeouts.toolMs", `1.5`, "a whole number"},
		{"timeouts.toolMs", `999`, "from 1000"},
		{"timeouts.toolMs", `{}`, "a whole number"},
		{"timeouts.tool", `5000`, "llmMs, toolMs"},
		{"timeout", `1`, "the configuration has no"},
		{"", `1`, "path required"},
		{"a..b", `1`, "has no"},
		{"timeouts..x", `1`, "is empty"},
		{"timeouts.toolMs.x", `1`, "single value"},
		{"__proto__.x", `1`, "has no"},
		{"ui.theme", `"blue"`, "system, light, dark"},
		{"ui.textSize", `9`, "0.75 to 2"},
		{"ui.firstRunDone", `"yes"`, "true or false"},
		{"model", `{"provider":"x","idd":"y"}`, `did you mean "id"?`},
		{"model.provider", `""`, "must not be empty"},
		{"model.provider", `"nope"`, `model.provider must be one of anthropic, openai, google, openrouter, ollama, lmstudio, llamacpp, compatible, operator, not "nope"`},
		{"model", `{"provider":"nope","id":"m"}`, `model.provider must be one of anthropic`},
		{"agents.list", `[{"id":"a","model":{"provider":"nope","id":"m"}}]`, `agents.list.0.model.provider must be one of anthropic`},
		{"systemPrompt", `"` + strings.Repeat("x", maxText+1) + `"`, "has 100001 bytes; the maximum is 100000"},
		{"channels.tele.allowFrom", `["` + strings.Repeat("x", maxText+1) + `"]`, "the maximum is 100000"},
		{"session.mainKey", `"` + strings.Repeat("k", 65) + `"`, "of at most 64 bytes"},
		{"userTimezone", `"Mars/Base"`, "Europe/Berlin"},
		{"session.defaultResetPolicy", `{"mode":"weekly"}`, "manual, daily, idle"},
		{"session.defaultResetPolicy", `{"mode":"daily","atHour":24}`, "0 to 23"},
		{"toolApproval.rules", `[{"tool":"*","decision":"maybe"}]`, "allow, ask, deny"},
		{"toolApproval.rules", `{}`, "a list"},
		{"toolApproval.rules", `[null]`, "toolApproval.rules.0 must be"},
		{"channels.tele.allowFrom", `["a",null]`, "channels.tele.allowFrom.1 must be text, not null"},
		{"channels.tele.owners", `[null]`, "must be text"},
		{"agents", `{"bindings":[null]}`, "agents.bindings.0"},
		{"auth.token", `"***"`, "the secret itself"},
		{"providers.compatible.baseUrl", `"ftp://x"`, "an address"},
		{"providers.compatible.baseUrl", `"sk-abcdefghijklmnop"`, "looks like a key"},
		{"providers.compatible.baseUrl", `"http://127.0.0.1:8000/v1sk-proj-abcdefgh1234"`, "looks like a key"},
		{"providers.compatible.baseUrl", `"http://x/v1?key=9f86d081884c7d659a2feaa0c55ad015"`, "looks like a key"},
		{"apiKeys", `"sk-1"`, "must be an object"},
		{"apiKeys", `{"a":1,"b":{}}`, "apiKeys.b must be text"},
		{"apiKeys", `{"a.b":"x"}`, "apiKeys.a is a single value"},
		{"apiKeys.__proto__", `"x"`, "reserved"},
		{"providers", `{"__proto__":{}}`, "reserved"},
		{"providers", `{"a.b":{}}`, "no dot"},
		{"toolApproval.rules.0", `{}`, "is a list"},
		{"session.identityLinks", `{"x":"y"}`, `session.identityLinks.x must be a list, not "y"`},
		{"session.identityLinks", `{"w":[],"x":[1]}`, "session.identityLinks.x.0 must be text, not 1"},
		{"providers", `{"a":{"baseUrl":1}}`, "providers.a.baseUrl must be text, not 1"},
		{"channels", `{"a":[]}`, "channels.a must be an object, not []"},
		{"session", `{"mainKey":null,"identityLinks":{"x":{}}}`, "session.identityLinks.x must be a list, not {}"},
		{"agents", `{"list":[{"id":"a","model":7}]}`, "agents.list.0.model must be an object, not 7"},
		{"services.domain", `"localhost"`, "a domain"},
		{"services.domain", `"Apps.Example.com"`, "small letters"},
		{"services.domain", `"https://example.com"`, "a domain"},
		{"services.listen", `"443"`, "HOST:PORT"},
		{"services.trustedProxies", `["proxy"]`, "addresses or networks"},
		{"timeouts.toolMs", `5000 junk`, "a whole number"},
		{"Timeouts", `{}`, `did you mean "timeouts"?`},
		{"ui", `{"Theme":"dark"}`, `did you mean "theme"?`},
		{"model", `{"id":5}`, "model.id must be text"},
		{"providers.compatible.baseUrl", `"http://u:p@x/v1"`, "must not contain a user name or password"},
		{"cron.maxConcurrentRuns", `0`, "from 1"},
		{"channels.whatsapp.dmPolicy", `"all"`, "open, allowlist, pairing"},
		{"auth", `null`, "cannot be removed"},
		{"auth", `{"token":null}`, "cannot be removed"},
		{"auth", `{"password":"x"}`, "It has token"},
		{"apiKeys.openai", `""`, "must not be empty"},
		{"apiKeys.openai", `[]`, "must be text"},
		{"auth.token", `null`, "cannot be removed"},
	} {
		err := s.Set(t.Context(), c.path, json.RawMessage(c.value))
		if !errors.Is(err, protocol.ErrBadRequest) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Set(%s, %s) = %v, want …%s…", c.path, c.value, err, c.want)
		}
	}
}

func TestChangesLastAndReset(t *testing.T) {
	b, dir := memory{}, t.TempDir()
	s := open(t, b, dir)
	var changed []string
	s.OnChange(func(p string) { changed = append(changed, p) })
	set := func(path, value string) {
		t.Helper()
		if err := s.Set(t.Context(), path, json.RawMessage(value)); err != nil {
			t.Fatal(err)
		}
	}
	set("timeouts.toolMs", "5000")
	set("model", `{"provider":"openai","id":"gpt-x"}`)
	set("model.id", `"gpt-y"`)
	set("session.identityLinks", `{"me":["a","b"]}`)
	set("ui.theme", `"dark"`)
	if got := strings.Join(changed, " "); got != "timeouts.toolMs model model.id session.identityLinks ui.theme" {
		t.Errorf(`changes = %s, want "timeouts.toolMs model model.id session.identityLinks ui.theme"`, got)
	}
	c := open(t, b, dir).Get()
	if c.Timeouts.Tool != 5000 || c.Timeouts.LLM != 300_000 || c.Model.Provider != "openai" || c.Model.ID != "gpt-y" || c.UI.Theme != "dark" {
		t.Errorf("after a restart: got %+v, want the stored values", c)
	}
	set("model", `null`)
	set("timeouts.toolMs", ``)
	if c := s.Get(); c.Model.ID != "built-in" || c.Timeouts.Tool != 600_000 {
		t.Errorf("after a reset: got %+v, want the defaults", c)
	}
	if _, left := b["model.id"]; left {
		t.Error("a part outlives the reset of the whole")
	}
}

func TestObjectsMergeOnTheDefaults(t *testing.T) {
	b, dir := memory{}, t.TempDir()
	s := open(t, b, dir)
	for path, value := range map[string]string{
		"timeouts": `{"toolMs":5000}`, "model": `{"id":"x","provider":null}`, "toolApproval": `{"rules":[{"tool":"*","decision":"deny"}]}`,
		"agents.defaultHeartbeat": `{"every":"1h"}`,
	} {
		t.Run(path, func(t *testing.T) {
			if err := s.Set(t.Context(), path, json.RawMessage(value)); err != nil {
				t.Error(err)
			}
		})
	}
	for range 2 {
		c := s.Get()
		if c.Timeouts.LLM != 300_000 || c.Timeouts.Tool != 5000 || c.Model.Provider != "operator" || c.Model.ID != "x" ||
			c.ToolApproval.DefaultDecision != "ask" || len(c.ToolApproval.Rules) != 1 || c.Agents.DefaultHeartbeat.ActiveHours.Start != "08:00" {
			t.Errorf(`merged = %+v; want Timeouts.LLM 300_000, Timeouts.Tool 5000, Model.Provider "operator", Model.ID "x", ToolApproval.DefaultDecision "ask", ToolApproval.Rules of length 1 and Agents.DefaultHeartbeat.ActiveHours.Start "08:00"`, c)
		}
		s = open(t, b, dir)
	}
	if err := s.Set(t.Context(), "toolApproval", json.RawMessage(`{"rules":[]}`)); err != nil || len(s.Get().ToolApproval.Rules) != 0 {
		t.Errorf("a list is not replaced: %v, %v", s.Get().ToolApproval.Rules, err)
	}
}

func TestWatcherMaySet(t *testing.T) {
	s := open(t, memory{}, t.TempDir())
	s.OnChange(func(p string) {
		if p == "ui.theme" {
			if err := s.Set(t.Context(), "ui.textSize", json.RawMessage(`1.5`)); err != nil {
				t.Error(err)
			}
		}
	})
	if err := s.Set(t.Context(), "ui.theme", json.RawMessage(`"dark"`)); err != nil || s.Get().UI.TextSize != 1.5 {
		t.Errorf("got %v, %+v; want no error and TextSize 1.5", err, s.Get().UI)
	}
}

func TestIllegalStoredValueDoesNotStopTheStart(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	b := memory{
		"timeouts.toolMs": json.RawMessage(`"x"`), "gone": json.RawMessage(`1`), "ui.theme": json.RawMessage(`"dark"`),
		"timeouts.llmMs": json.RawMessage(`1`), "auth": json.RawMessage(`{"token":"in the clear"}`),
	}
	s, problems, err := Open(t.Context(), b, keychain.Open(t.TempDir()))
	if err != nil || len(problems) != 4 || s.Get().Auth.Token != "" || s.Get().Timeouts.LLM != 300_000 || s.Get().UI.Theme != "dark" || s.Get().Timeouts.Tool != 600_000 {
		t.Errorf(`Open = %v, problems %v; want no error, length 4, an empty Get.Auth.Token, Get.Timeouts.LLM 300_000, Get.UI.Theme "dark" and Get.Timeouts.Tool 600_000`, err, problems)
	}
}

func TestLostKeyIsMissingUntilSetOrRemoved(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	b := memory{"apiKeys.openai": json.RawMessage(`true`), "apiKeys.anthropic": json.RawMessage(`true`)}
	s, problems, err := Open(t.Context(), b, keychain.Open(t.TempDir()))
	if err != nil || len(problems) != 2 || strings.Join(s.Missing(), " ") != "apiKeys.anthropic apiKeys.openai" {
		t.Fatalf(`got %v, %v, %v; want no error, length 2 and Missing "apiKeys.anthropic apiKeys.openai"`, err, problems, s.Missing())
	}
	if err := s.Set(t.Context(), "apiKeys.openai", json.RawMessage(`"sk-x"`)); err != nil || strings.Join(s.Missing(), " ") != "apiKeys.anthropic" {
		t.Errorf(`got %v, %v; want no error and Missing "apiKeys.anthropic"`, err, s.Missing())
	}
	if err := s.Set(t.Context(), "apiKeys.anthropic", json.RawMessage(`null`)); err != nil || len(s.Missing()) != 0 {
		t.Errorf("got %v, %v; want no error and no Missing", err, s.Missing())
	}
}

func FuzzPath(f *testing.F) {
	f.Add("model.id", `"x"`)
	f.Add("toolApproval.rules", `[{"when":[{"value":1}]}]`)
	f.Add("a.0.b", `{}`)
	f.Fuzz(func(t *testing.T, path, value string) {
		fl, err := lookup(path)
		if err != nil {
			return
		}
		if fl.check(path, json.RawMessage(value)) != nil {
			return
		}
		if fl.secret == "" {
			_, _, err := build(map[string]json.RawMessage{path: json.RawMessage(value)})
			if err != nil && !errors.Is(err, protocol.ErrBadRequest) {
				t.Errorf("%s = %s passed the check and cannot be built: %v, want no error or error ErrBadRequest", path, value, err)
			}
		}
	})
}

func TestPartOfASettingReturnsToItsDefault(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	kept, home := memory{}, t.TempDir()
	s := open(t, kept, home)
	must := func(path, value string) {
		t.Helper()
		if err := s.Set(t.Context(), path, json.RawMessage(value)); err != nil {
			t.Fatal(err)
		}
	}
	must("model", `{"provider":"ollama","id":"small","thinkingLevel":"low"}`)
	must("providers", `{"a":{"baseUrl":"http://127.0.0.1:1/v1","wire":"chat"},"b":{"wire":"chat"}}`)
	must("model.id", `null`)
	must("providers.a.baseUrl", ``)
	for _, s := range []*Store{s, open(t, kept, home)} {
		c := s.Get()
		if c.Model.ID != "built-in" || c.Model.Provider != "ollama" || c.Model.ThinkingLevel != "low" {
			t.Errorf("the model is %+v, want built-in of ollama with low", c.Model)
		}
		if c.Providers["a"] != (ProviderConfig{Wire: "chat"}) || c.Providers["b"].Wire != "chat" {
			t.Errorf("the providers are %+v, want the wire chat for both", c.Providers)
		}
	}
}

func TestAWholeNumberMayBeSetWithAnExponent(t *testing.T) {
	b := memory{}
	s := open(t, b, t.TempDir())
	if err := s.Set(t.Context(), "timeouts.toolMs", json.RawMessage(`1e6`)); err != nil {
		t.Fatal(err)
	}
	for when, s := range map[string]*Store{"at once": s, "after a restart": open(t, b, t.TempDir())} {
		t.Run(when, func(t *testing.T) {
			if got := s.Get().Timeouts.Tool; got != 1_000_000 {
				t.Errorf("%s: got %d, want 1000000", when, got)
			}
		})
	}
}
