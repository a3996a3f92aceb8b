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
	a := &activeCall{Pipeline: New(Options{Config: func() config.Config { return cfg }})}
	for args, want := range map[string]time.Duration{
		`{}`: time.Second, `{"timeout":60000}`: 65 * time.Second, `{"timeout":-1}`: time.Second, `{"timeout":"x"}`: time.Second, `{"timeout":1e300}`: noLimit + 5*time.Second,
		`{"timeout":0}`: time.Second, `{"timeout":null}`: time.Second,
	} {
		t.Run(args, func(t *testing.T) {
			a.call.Args = json.RawMessage(args)
			if got := a.timeLimit(a.target.Spec, a.call.Args); got != want {
				t.Errorf("%s: %s, want %s", args, got, want)
			}
		})
	}
	a.target.Spec.Name = protocol.CommandTool
	for args, least := range map[string]time.Duration{`{}`: 2 * time.Minute, `{"idle_timeout":600}`: 10 * time.Minute, `{"idle_timeout":"x"}`: 2 * time.Minute} {
		if got := a.timeLimit(a.target.Spec, json.RawMessage(args)); got <= least || got > least+time.Minute {
			t.Errorf("a command with %s: %s, want more than %s", args, got, least)
		}
	}
	a.target.Spec.Name = protocol.FetchTool
	if got, want := a.timeLimit(a.target.Spec, json.RawMessage(`{}`)), protocol.FetchTime; got <= want {
		t.Errorf("a download: got %s, want more than the %s of the node", got, want)
	}
	a.target.Spec.Name = ""
	a.target.Spec.Effect, a.call.Args = protocol.EffectExec, json.RawMessage(`{"timeout":0}`)
	if got := a.timeLimit(a.target.Spec, a.call.Args); got != noLimit {
		t.Errorf("a command without a time limit ends after %s", got)
	}
}
