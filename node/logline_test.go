package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestLogLinesHaveTheOriginalsKeys(t *testing.T) {
	var to bytes.Buffer
	log := slog.New(newLineHandler(&to, "laptop", "/srv/my app")).With("call", "c1")
	log.Debug("Reconnecting")
	if to.Len() != 0 {
		t.Errorf("debug: got %q, want nothing", &to)
	}
	log.Warn("Result not wanted", "err", errors.New("<gone>"), "ms", 5, "wait", 2*time.Second)
	log.Error("Something new", "x", "y")
	lines := strings.Split(strings.TrimSpace(to.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("got %d lines, want 2: %s", len(lines), &to)
	}
	ts := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
	for i, want := range []map[string]any{
		{"call": "c1", "component": "node", "err": "<gone>", "event": "tool.result.send_failed", "level": "WARN", "ms": 5.0, "msg": "Result not wanted", "nodeId": "laptop", "wait": "2s", "workspace": "/srv/my app"},
		{"call": "c1", "component": "node", "event": "node.note", "level": "ERROR", "msg": "Something new", "nodeId": "laptop", "x": "y", "workspace": "/srv/my app"},
	} {
		var got map[string]any
		if err := json.Unmarshal([]byte(lines[i]), &got); err != nil {
			t.Fatalf("%s: %v", lines[i], err)
		}
		if at, ok := got["ts"].(string); !ok || !ts.MatchString(at) {
			t.Errorf("ts: got %v, want a time", got["ts"])
		}
		delete(got, "ts")
		if !maps.Equal(got, want) {
			t.Errorf("\n%v, want\n%v", got, want)
		}
	}
}
