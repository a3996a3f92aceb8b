package node

import (
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestLogsHoldNeitherArgumentsNorOutput(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	l.invoke("one", "Bash", `{"command":"echo spoken-$((40+2))"}`)
	l.result()
	l.invoke("two", "Read", `{"path":"secret-name.txt"}`)
	l.result()
	l.send(protocol.EventLogsGet, protocol.LogsGet{CallID: "logs", Lines: 50})
	req := l.next(protocol.ReturnLogs.Name)
	l.answer(req, protocol.Ack{OK: true})
	p := decode[protocol.LogsResultParams](t, req.Params)
	all := strings.Join(p.Lines, "\n")
	if p.CallID != "logs" || p.Error != "" || !strings.Contains(all, `"call":"one"`) || !strings.Contains(all, `"tool":"Bash"`) {
		t.Errorf("got %+v, want the call and its tool in the log", p)
	}
	for _, secret := range []string{"spoken", "secret-name", "fl_secret"} {
		if strings.Contains(all, secret) {
			t.Errorf("got %q in the log, want no secrets:\n%s", secret, all)
		}
	}
	for _, line := range p.Lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("got line %s, want JSON", line)
		}
	}
}

func TestNodeWithoutLogSaysSo(t *testing.T) {
	g := start(t, func(o *Options) { o.LogDir = "" })
	l, _ := g.accept()
	l.send(protocol.EventLogsGet, protocol.LogsGet{CallID: "logs", Lines: 5})
	req := l.next(protocol.ReturnLogs.Name)
	l.answer(req, protocol.Ack{OK: true})
	if p := decode[protocol.LogsResultParams](t, req.Params); p.Error == "" {
		t.Errorf("got %+v, want an error", p)
	}
}
