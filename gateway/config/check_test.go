package config

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestUnusableValuesAreRefused(t *testing.T) {
	s := open(t, memory{}, t.TempDir())
	for _, c := range []struct{ path, value, why string }{
		{"agents.defaultHeartbeat.every", `"soon"`, `agents.defaultHeartbeat.every: "soon" is not a duration: write 20 minutes or 2 hours, or 0m for never`},
		{"agents.defaultHeartbeat", `{"every":"-5m"}`, "agents.defaultHeartbeat.every"},
		{"agents.list", `[{"id":"a"},{"id":"b","heartbeat":{"every":"1 moon"}}]`, `agents.list.1.heartbeat.every: "moon" is not a unit`},
		{"agents.defaultHeartbeat.activeHours.start", `"breakfast"`, "agents.defaultHeartbeat.activeHours.start must be a time of day such as 08:00"},
		{"agents.defaultHeartbeat.activeHours.end", `"25:00"`, "agents.defaultHeartbeat.activeHours.end must be"},
		{"agents.defaultHeartbeat.activeHours.timezone", `"Mars/Olympus"`, "Europe/Berlin"},
		{"agents.list", `[{"id":"???"}]`, "agents.list.0.id must contain a letter"},
		{"agents.list", `[{"id":"Mail"},{"id":"mail"}]`, "agents.list.1.id"},
		{"agents.list", `[{"id":"a","model":{"provider":"openai","id":""}}]`, "agents.list.0.model needs both"},
		{"agents.bindings", `[{"agentId":"","match":{}}]`, "agents.bindings.0.agentId"},
		{"agents", `{"bindings":[{"agentId":" ","match":{}}]}`, "agents.bindings.0.agentId"},
		{"notifications.quietHours.from", `"10 pm"`, "notifications.quietHours.from must be a time of day such as 22:00"},
		{"notifications.quietHours", `{"to":"24:00"}`, "notifications.quietHours.to must be"},
		{"notifications.quietHours.days", `["Monday"]`, "notifications.quietHours.days must be some of mon, tue"},
		{"userTimezone", `"Berlin"`, "Europe/Berlin"},
		{"session.mainKey", `"my main"`, "session.mainKey must be one word"},
		{"session.mainKey", `"a:b"`, "session.mainKey must be one word"},
		{"network.listen", `"everywhere"`, "network.listen must be HOST:PORT"},
		{"network.listen", `":99999"`, "network.listen must be HOST:PORT"},
		{"network.listen", `":http"`, "network.listen must be HOST:PORT"},
		{"skills.entries.x.requires.capabilities", `["shell.run"]`, "shell.exec"},
		{"toolApproval.rules", `[{"id":"1","tool":"","decision":"deny"}]`, "toolApproval.rules.0.tool"},
		{"toolApproval.rules", `[{"id":"1","tool":"*","decision":"deny","when":[{"path":"command","op":"regex","value":"rm ("}]}]`, "toolApproval.rules.0.when.0.value: error parsing regexp"},
		{"toolApproval.rules", `[{"id":"1","tool":"*","decision":"deny","when":[{"path":"command","op":"regex","value":"rm","flags":"x"}]}]`, "toolApproval.rules.0.when.0.value"},
		{"toolApproval.rules", `[{"id":"1","tool":"*","decision":"deny","when":[{"path":"command","op":"regex","value":7}]}]`, "not a text with a regular expression"},
	} {
		err := s.Set(t.Context(), c.path, json.RawMessage(c.value))
		if !errors.Is(err, protocol.ErrBadRequest) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s = %s: %v; want error ErrBadRequest and an error with %v", c.path, c.value, err, c.why)
		}
	}
	for _, c := range []struct{ path, value string }{
		{"agents.defaultHeartbeat.every", `"1h30m"`},
		{"agents.defaultHeartbeat.every", `"0m"`},
		{"agents.defaultHeartbeat.every", `"0"`},
		{"agents.defaultHeartbeat.every", `""`},
		{"agents.defaultHeartbeat.activeHours", `{"start":"22:00","end":"24:00","timezone":"local"}`},
		{"agents.list", `[{"id":"Mail","heartbeat":{"every":"2 hours"},"model":{"provider":"openai","id":"m"}},{"id":"b"}]`},
		{"agents.bindings", `[{"agentId":"mail","match":{"channel":"xmpp"}}]`},
		{"notifications.quietHours", `{"enabled":true,"from":"22:00","to":"06:30","days":["fri","sat"],"allow":"nothing"}`},
		{"session.mainKey", `" Primary "`},
		{"network.listen", `"[::1]:0"`},
		{"skills.entries.x.requires.capabilities", `["shell.exec"]`},
		{"toolApproval.rules", `[{"id":"1","tool":"*","decision":"deny","when":[{"path":"command","op":"regex","value":"^rm","flags":"gi"}]}]`},
	} {
		if err := s.Set(t.Context(), c.path, json.RawMessage(c.value)); err != nil {
			t.Errorf("%s = %s: %v", c.path, c.value, err)
		}
	}
}
