package tool

import (
	"encoding/json"
	"testing"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

func TestOwnTimeoutOfACallIsRespected(t *testing.T) {
	cfg := config.Default()
	cfg.Timeouts.Tool = 1000
	limit := func(name string, effect protocol.Effect, args string) time.Duration {
		return nodeTool{spec: protocol.ToolSpec{Name: name, Effect: effect}}.TimeLimit(json.RawMessage(args), usualLimit(cfg))
	}
	for args, want := range map[string]time.Duration{
		`{}`: time.Second, `{"timeout":60000}`: 65 * time.Second, `{"timeout":-1}`: time.Second, `{"timeout":"x"}`: time.Second, `{"timeout":1e300}`: noLimit + 5*time.Second,
		`{"timeout":0}`: time.Second, `{"timeout":null}`: time.Second,
	} {
		t.Run(args, func(t *testing.T) {
			if got := limit("", "", args); got != want {
				t.Errorf("%s: %s, want %s", args, got, want)
			}
		})
	}
	for args, least := range map[string]time.Duration{`{}`: 2 * time.Minute, `{"idle_timeout":600}`: 10 * time.Minute, `{"idle_timeout":"x"}`: 2 * time.Minute} {
		if got := limit(protocol.CommandTool, "", args); got <= least || got > least+time.Minute {
			t.Errorf("a command with %s: %s, want more than %s", args, got, least)
		}
	}
	if got, want := limit(protocol.FetchTool, "", `{}`), protocol.FetchTime; got <= want {
		t.Errorf("a download: got %s, want more than the %s of the node", got, want)
	}
	if got := limit("", protocol.EffectExec, `{"timeout":0}`); got != noLimit {
		t.Errorf("a command without a time limit ends after %s, want %s", got, noLimit)
	}
}
