package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
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
		t.Errorf("debug is kept: %s", &to)
	}
	log.Warn("Result not wanted", "err", errors.New("<gone>"), "ms", 5, "wait", 2*time.Second, "rate", math.Inf(1), "g", slog.GroupValue(slog.Bool("a", true)))
	log.WithGroup("deep").Error("Something new", "x", []string{"y"})
	lines := strings.Split(strings.TrimSpace(to.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines: %s", len(lines), &to)
	}
	ts := regexp.MustCompile(`"ts":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`)
	for i, want := range []string{
		`{"call":"c1","component":"node","err":"<gone>","event":"tool.result.send_failed","g.a":true,"level":"WARN","ms":5,"msg":"Result not wanted","nodeId":"laptop","rate":"+Inf",TS,"wait":"2s","workspace":"/srv/my app"}`,
		`{"call":"c1","component":"node","deep.x":["y"],"event":"node.note","level":"ERROR","msg":"Something new","nodeId":"laptop",TS,"workspace":"/srv/my app"}`,
	} {
		if got := ts.ReplaceAllString(lines[i], "TS"); got != want {
			t.Errorf("\n%s, want\n%s", got, want)
		}
		if !json.Valid([]byte(lines[i])) {
			t.Errorf("no JSON: %s", lines[i])
		}
	}
}
