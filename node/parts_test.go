package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
)

func TestNewRefusesInvalidOptions(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Options{
		"no id":              {Workspace: dir, URL: "ws://x/ws"},
		"bad id":             {ID: "a__b", Workspace: dir, URL: "ws://x/ws"},
		"nowhere to connect": {ID: "a", Workspace: dir},
		"no workspace":       {ID: "a", Workspace: filepath.Join(dir, "none"), URL: "ws://x/ws"},
		"workspace a file":   {ID: "a", Workspace: file, URL: "ws://x/ws"},
		"log folder a file":  {ID: "a", Workspace: dir, URL: "ws://x/ws", LogDir: file},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := New(o); err == nil || err.Error() == "" {
				t.Errorf("got error %v, want a reason", err)
			}
		})
	}
	for _, wholeDisk := range []bool{false, true} {
		n, err := New(Options{ID: "a", Workspace: dir, URL: "ws://x/ws", Confine: Confinement{WholeDisk: wholeDisk}})
		if err != nil {
			t.Fatal(err)
		}
		if got := n.ws.Config().WholeDisk; got != wholeDisk {
			t.Errorf("whole disk: got %v, want %v", got, wholeDisk)
		}
		n.Close()
	}
}

// newNodeWithTools is a node that offers a few odd tools and is not connected.
func newNodeWithTools(t *testing.T) *Node {
	t.Helper()
	n, err := New(Options{ID: "a", Workspace: t.TempDir(), URL: "ws://x/ws", LogDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	define := func(name string, fn func(context.Context, access.Call, struct{}) (any, error)) toolkit.Tool[access.Call] {
		return toolkit.Define(name, "", toolkit.Traits{Caps: []string{protocol.CapRead}}, fn)
	}
	n.setTools([]toolkit.Tool[access.Call]{
		define("Crash", func(context.Context, access.Call, struct{}) (any, error) { panic("secret argument") }),
		define("Silent", func(context.Context, access.Call, struct{}) (any, error) { return nil, errors.New("") }),
		define("Nothing", func(context.Context, access.Call, struct{}) (any, error) { return nil, nil }),
		define("Huge", func(context.Context, access.Call, struct{}) (any, error) { return strings.Repeat("x", maxResult), nil }),
		define("Wait", func(ctx context.Context, _ access.Call, _ struct{}) (any, error) { <-ctx.Done(); return nil, ctx.Err() }),
		toolkit.WithPreview(define("Bad", nil), func(context.Context, access.Call, struct{}) (protocol.CallPreview, error) { panic("secret preview") }),
	})
	return n
}

func TestEveryCallEndsInAResultOrAnError(t *testing.T) {
	n := newNodeWithTools(t)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []struct {
		tool    string
		ctx     context.Context
		preview bool
		want    string
		code    protocol.FaultCode
	}{
		{"Crash", t.Context(), false, "The tool crashed", protocol.FaultInternal},
		{"Bad", t.Context(), true, "The tool crashed", protocol.FaultInternal},
		{"Silent", t.Context(), false, "failed without a reason", ""},
		{"Huge", t.Context(), false, "too large", protocol.FaultTooLarge},
		{"Wait", stopped, false, "cancelled", ""},
		{"", t.Context(), false, "Tool not found: ", ""},
	} {
		t.Run(c.tool, func(t *testing.T) {
			r := n.call(c.ctx, protocol.ToolInvoke{CallID: "1", Tool: c.tool, Preview: c.preview})
			if !strings.Contains(r.Error, c.want) || r.Result != nil || strings.Contains(r.Error, "secret") {
				t.Errorf("got error %q, result %s, want %q", r.Error, r.Result, c.want)
			}
			if c.code == "" && r.Fault == nil {
				return
			}
			if r.Fault == nil || r.Fault.Code != c.code || r.Fault.Message != r.Error || r.Fault.Retryable {
				t.Errorf("got %+v, want the code %q, the same text, and not retryable", r.Fault, c.code)
			}
		})
	}
	if r := n.call(t.Context(), protocol.ToolInvoke{CallID: "1", Tool: "Nothing"}); string(r.Result) != "null" || r.Error != "" {
		t.Errorf("Nothing: got %+v, want null", r)
	}
	if r := n.call(t.Context(), protocol.ToolInvoke{CallID: "1", Tool: "Nothing", Preview: true}); string(r.Result) != "null" || r.Error != "" {
		t.Errorf("preview of Nothing: got %+v, want null", r)
	}
	log, err := os.ReadFile(filepath.Join(n.opts.LogDir, logName))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(log, []byte("secret")) || !bytes.Contains(log, []byte("Tool crashed")) {
		t.Errorf("got log %s, want that the tool crashed, without the secret", log)
	}
}

func TestPrettyName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "os-release")
	for text, want := range map[string]string{
		"NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n": "Debian GNU/Linux 12 (bookworm)",
		"PRETTY_NAME='Alpine'\n": "Alpine",
		"PRETTY_NAME=Void":       "Void",
		"NAME=x\n":               "",
		"":                       "",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := prettyName(path); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := prettyName(path + ".none"); got != "" {
		t.Errorf("without a file: got %q, want nothing", got)
	}
}

func TestBackgroundCommandsAreReported(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	l.invoke("bg", "Bash", `{"command":"echo hi","background":true}`)
	var events []protocol.NodeExecEvent
	var id string
	for len(events) < 2 || id == "" {
		req := receive(t, l.got, "a report")
		l.answer(req, protocol.Ack{OK: true})
		switch req.Method {
		case protocol.ReturnResult.Name:
			id = decode[struct{ SessionID string }](t, decode[protocol.ToolResultParams](t, req.Params).Result).SessionID
		case protocol.ReportExec.Name:
			events = append(events, decode[protocol.NodeExecEvent](t, req.Params))
		}
	}
	if events[0].Event != "started" || events[1].Event != "finished" || events[1].OutputTail != "hi\n" || events[0].SessionID != id || events[0].EventID == events[1].EventID {
		raw, _ := json.Marshal(events)
		t.Errorf("session %s: got %s, want its start and its end", id, raw)
	}
}
