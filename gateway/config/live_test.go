package config

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// otherValue returns a valid value of a setting that differs from its default.
func otherValue(t *testing.T, f protocol.ConfigField) any {
	t.Helper()
	switch {
	case f.Path == "agents.list":
		return []map[string]any{{"id": "work"}}
	case f.Path == "agents.bindings":
		return []map[string]any{{"agentId": "work", "match": map[string]any{"channel": "xmpp"}}}
	case f.Path == "toolApproval.rules":
		return []map[string]any{{"tool": "Bash", "decision": "deny"}}
	case f.Path == "skills.entries.*.requires.capabilities":
		return []string{protocol.CapExec}
	case f.Path == "services.domain":
		return "apps.example.com"
	case f.Path == "services.trustedProxies":
		return []string{"10.0.0.0/8"}
	case f.Path == "network.listen", f.Path == "services.listen", f.Path == "services.redirectListen":
		return "127.0.0.1:0"
	case f.Path == "notifications.quietHours.days":
		return []string{"sat", "sun"}
	case strings.Contains(f.Path, "activeHours.") && f.Format != protocol.FormatTimeZone, strings.HasPrefix(f.Path, "notifications.quietHours.") && f.Type == "string" && f.Enum == nil:
		return "09:30"
	case f.Path == "services.mail.from":
		return "apps@example.com"
	case f.Format == protocol.FormatDuration:
		return "45m"
	case f.Format == protocol.FormatTimeZone:
		return "Pacific/Auckland"
	case f.Format == protocol.FormatURL:
		return "https://example.org/v1"
	case f.Type == "boolean":
		return string(f.Default) != "true"
	case f.Enum != nil:
		i := slices.IndexFunc(f.Enum, func(one string) bool { return one != "" && `"`+one+`"` != string(f.Default) })
		return f.Enum[i]
	case f.Type == "integer" || f.Type == "number":
		if f.Min != nil && string(f.Default) == "1" {
			return *f.Min
		}
		if f.Max != nil {
			return *f.Max
		}
		return 7
	case f.Type == "list":
		return []string{"ann"}
	}
	return "another"
}

// TestEverySettingIsInForceAtOnce sets each setting of a running gateway: readers get the new
// value, and subscribers are notified. No setting may need a restart. A test of package gateway
// checks that no package copies a value.
func TestEverySettingIsInForceAtOnce(t *testing.T) {
	s := open(t, memory{}, t.TempDir())
	var told []string
	s.OnChange(func(path string) { told = append(told, path) })
	for _, f := range Schema() {
		if f.Restart {
			t.Errorf("%s needs a restart", f.Path)
		}
		path := strings.ReplaceAll(f.Path, "*", "name")
		want, err := protocol.Marshal(otherValue(t, f))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(path, "mcp.servers.") { // whose parts depend on each other
			base := `{"command": "npx"}`
			if strings.Contains(path, ".url") || strings.Contains(path, ".headers") || strings.Contains(path, ".client") {
				base = `{"url": "https://example.org/mcp", "clientId": "x"}`
			}
			if err := s.Set(t.Context(), "mcp.servers.name", json.RawMessage(base)); err != nil {
				t.Fatal(err)
			}
		}
		told = nil
		if err := s.Set(t.Context(), path, want); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if !slices.Contains(told, path) {
			t.Errorf("%s: got %q, want it among the changes", path, told)
		}
		if f.Secret {
			if got, _ := s.Secret(path); `"`+got+`"` != string(want) {
				t.Errorf("%s is %q, want `\"` + got + `\"` %v", path, got, string(want))
			}
			continue
		}
		all, err := protocol.Marshal(s.Get())
		if err != nil {
			t.Fatal(err)
		}
		var at any
		if err := json.Unmarshal(all, &at); err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(path, ".") {
			at = at.(map[string]any)[part]
		}
		got, _ := protocol.Marshal(at)
		// with the omitted fields filled in
		if list, _ := at.([]any); f.Items == "object" && len(list) == 1 {
			continue
		}
		if strings.Contains(path, ".headers.") || strings.HasSuffix(path, ".clientSecret") {
			want = json.RawMessage(`"` + protocol.MaskedSecret + `"`)
		}
		if string(got) != string(want) {
			t.Errorf("%s is %s, not %s", path, got, want)
		}
	}
}
