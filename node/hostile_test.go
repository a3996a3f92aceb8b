package node

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// hostileValues returns JSON values to put in the place of others. They are not a variable: each
// program that the tests of this package start, which is their own, would make 60 MB of them.
func hostileValues() []string {
	return []string{
		`null`, `true`, `-1`, `0.5`, `1e999`, `1e308`, `18446744073709551616`, `"NaN"`, `"\ud800"`, `"a\u0000b"`, `"../../x"`, `[]`, `[null]`, `{}`, `{"a":1,"a":2}`,
		strings.Repeat("[", 9000) + strings.Repeat("]", 9000), `"` + strings.Repeat("a", 30<<20) + `"`,
	}
}

// TestANodeOutlivesHostileEvents sets every field of every event of a gateway to every hostile
// value. A call whose ID can be read is answered, and the node continues.
func TestANodeOutlivesHostileEvents(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	write := func(raw string) { l.write([]byte(raw), nil) }
	answer := func(id string) protocol.ToolResultParams {
		for {
			req := receive(t, l.got, "the answer to "+id)
			l.answer(req, protocol.Ack{OK: true})
			r := protocol.ToolResultParams{}
			if (req.Method == protocol.ReturnResult.Name || req.Method == protocol.ReturnLogs.Name) && json.Unmarshal(req.Params, &r) == nil && string(r.CallID) == id {
				return r
			}
		}
	}
	hostile, calls := hostileValues(), 0
	for _, e := range []struct {
		name   string
		params any
		call   bool
	}{
		{protocol.EventToolInvoke, protocol.ToolInvoke{Tool: "Read", Args: json.RawMessage(`{"path":"none"}`)}, true},
		{protocol.EventToolCancel, protocol.ToolCancel{}, false},
		{protocol.EventLogsGet, protocol.LogsGet{Lines: 1}, true},
		{protocol.EventFilesUnwatch, protocol.FilesUnwatchParams{}, false},
		{protocol.EventTransferSend, protocol.TransferSend{}, false},
		{protocol.EventTransferStart, protocol.TransferStartEvent{}, false},
		{protocol.EventTransferReceive, protocol.TransferReceive{}, false},
		{protocol.EventTransferEnd, protocol.TransferEnd{}, false},
		{protocol.EventTransferStop, protocol.TransferStop{}, false},
		{protocol.EventTransferUndo, protocol.TransferUndoEvent{}, false},
	} {
		fields := reflect.VisibleFields(reflect.TypeOf(e.params))
		for _, f := range fields {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" || name == "-" || len(f.Index) > 1 {
				continue
			}
			for _, value := range hostile {
				if len(value) > 1<<20 && name != "callId" && name != "tool" && name != "args" && name != "path" {
					continue // it takes half a second each
				}
				raw, err := protocol.Marshal(e.params)
				if err != nil {
					t.Fatal(err)
				}
				var all map[string]json.RawMessage
				if err := json.Unmarshal(raw, &all); err != nil {
					t.Fatal(err)
				}
				id := fmt.Sprint("c", calls)
				all["callId"], _ = json.Marshal(id)
				delete(all, name)
				rest, _ := json.Marshal(all)
				write(`{"type":"evt","event":"` + e.name + `","payload":` + strings.TrimSuffix(strings.TrimSuffix(string(rest), "}"), ",") + `,"` + name + `":` + value + `}}`)
				if !e.call || name == "callId" {
					continue
				}
				calls++
				if r := answer(id); r.Error == "" && len(r.Result) == 0 && e.name == protocol.EventToolInvoke || len(r.Error) > 8000 {
					t.Errorf("%s %s %.60s: got result of %d bytes, error %.200q, want a short answer", e.name, name, value, len(r.Result), r.Error)
				}
			}
		}
	}
	for _, raw := range []string{``, `{`, `[]`, `null`, `"x"`, `{"type":"evt"}`, `{"type":"evt","event":1,"payload":{}}`, `{"type":"evt","event":"tool.invoke"}`, `{"type":"evt","event":"tool.invoke","payload":[]}`, `{"type":"res","id":1,"ok":"x"}`} {
		write(raw)
	}
	if err := os.WriteFile(filepath.Join(g.node.ws.Dir(), "a"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.invoke("last", "Read", `{"path":"a"}`)
	if r := answer("last"); r.Error != "" {
		t.Errorf("got %v, want %q", r.Error, "")
	}
}
