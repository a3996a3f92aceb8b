package node

import (
	"cmp"
	"context"
	"io"
	"log/slog"

	"fairlead/gateway/protocol"
)

// events maps our log messages to the event names in the node log of GSV, so that tools for one log
// can read the other.
var events = map[string]string{
	"Node started": "node.start", "Node stopped": "shutdown", "Connected": "connect.ok", "Gateway lost": "connect.lost", "Reconnecting": "connect.failed",
	"Gateway does not answer": "keepalive.failed", "Call done": "tool.execute.ok", "Call failed": "tool.execute.error", "Tool crashed": "tool.execute.error",
	"Call arrived": "tool.invoke", "Result not wanted": "tool.result.send_failed", "Log requested": "logs.get",
	"Event cannot be read": "event.invalid",
}

// newLineHandler returns a handler that writes records as lines of node.log: one JSON object with
// ts, level, component, nodeId and event, and msg with our own message. Each line is one Write.
func newLineHandler(to io.Writer, node protocol.NodeID, workspace string) slog.Handler {
	lines := slog.NewJSONHandler(to, &slog.HandlerOptions{ReplaceAttr: originalForm})
	return eventHandler{lines.WithAttrs([]slog.Attr{slog.String("component", "node"), slog.String("nodeId", string(node)), slog.String("workspace", workspace)})}
}

type eventHandler struct{ slog.Handler }

func (h eventHandler) Handle(ctx context.Context, r slog.Record) error {
	r = r.Clone()
	r.AddAttrs(slog.String("event", cmp.Or(events[r.Message], "node.note")))
	return h.Handler.Handle(ctx, r)
}

func (h eventHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return eventHandler{h.Handler.WithAttrs(attrs)}
}

func (h eventHandler) WithGroup(name string) slog.Handler {
	return eventHandler{h.Handler.WithGroup(name)}
}

// originalForm converts times and durations to the form that they have in GSV's log.
func originalForm(groups []string, a slog.Attr) slog.Attr {
	switch {
	case len(groups) == 0 && a.Key == slog.TimeKey:
		return slog.String("ts", a.Value.Time().UTC().Format("2006-01-02T15:04:05.000Z"))
	case a.Value.Kind() == slog.KindDuration:
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}
