package node

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"time"

	"fairlead/gateway/protocol"
)

// events maps our log messages to the event names in the node log of the original system, so that
// tools for one log can read the other.
var events = map[string]string{
	"Node started": "node.start", "Node stopped": "shutdown", "Connected": "connect.ok", "Gateway lost": "connect.lost", "Reconnecting": "connect.failed",
	"Gateway does not answer": "keepalive.failed", "Call done": "tool.execute.ok", "Call failed": "tool.execute.error", "Tool crashed": "tool.execute.error",
	"Call arrived": "tool.invoke", "Result not wanted": "tool.result.send_failed", "Log asked for": "logs.get",
	"Event cannot be read": "event.invalid",
}

// lineHandler writes records as lines of node.log: one JSON object with sorted keys, among them ts,
// level, component, nodeId and event, and msg with our own message. Each line is one Write.
type lineHandler struct {
	to    io.Writer
	fixed map[string]any // immutable
	group string         // the prefix of keys
}

func newLineHandler(to io.Writer, node protocol.NodeID, workspace string) slog.Handler {
	return &lineHandler{to: to, fixed: map[string]any{"component": "node", "nodeId": string(node), "workspace": workspace}}
}

func (h *lineHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

func (h *lineHandler) Handle(_ context.Context, r slog.Record) error {
	line := maps.Clone(h.fixed)
	r.Attrs(func(a slog.Attr) bool {
		add(line, h.group, a)
		return true
	})
	event := events[r.Message]
	if event == "" {
		event = "node.note"
	}
	line["event"], line["msg"], line["level"] = event, r.Message, level(r.Level)
	line["ts"] = r.Time.UTC().Format("2006-01-02T15:04:05.000Z")
	raw, err := protocol.Marshal(line)
	if err != nil {
		return fmt.Errorf("encoding a log line: %w", err)
	}
	_, err = h.to.Write(append(raw, '\n'))
	return err
}

func (h *lineHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	more := *h
	more.fixed = maps.Clone(h.fixed)
	for _, a := range attrs {
		add(more.fixed, h.group, a)
	}
	return &more
}

func (h *lineHandler) WithGroup(name string) slog.Handler {
	more := *h
	more.group += name + "."
	return &more
}

// add adds an attribute to a line; those of a group are prefixed with its name.
func add(line map[string]any, prefix string, a slog.Attr) {
	v := a.Value.Resolve()
	key := prefix + a.Key
	switch v.Kind() {
	case slog.KindGroup:
		if a.Key != "" {
			prefix = key + "."
		}
		for _, member := range v.Group() {
			add(line, prefix, member)
		}
		return
	case slog.KindDuration:
		line[key] = v.Duration().String()
	case slog.KindTime:
		line[key] = v.Time().UTC().Format(time.RFC3339Nano)
	case slog.KindFloat64: // JSON has no infinity
		line[key] = fmt.Sprint(v.Float64())
	case slog.KindAny:
		line[key] = v.Any()
		switch x := v.Any().(type) {
		case error:
			line[key] = x.Error()
		case fmt.Stringer:
			line[key] = x.String()
		}
	default:
		line[key] = v.Any()
	}
}

// level returns the level's name in the original system's log, which has three levels.
func level(l slog.Level) string {
	switch {
	case l >= slog.LevelError:
		return "ERROR"
	case l >= slog.LevelWarn:
		return "WARN"
	}
	return "INFO"
}
