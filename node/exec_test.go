package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestEventsOfCommandsSurviveALostConnection(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	l.invoke("bg", "Bash", `{"command":"exit 3","background":true}`)
	first := decode[protocol.NodeExecEvent](t, l.next(protocol.ReportExec.Name).Params) // and no confirmation
	l.ws.NetConn().Close()
	receive(t, l.gone, "the end of the connection")
	l, _ = g.accept()
	var events []protocol.NodeExecEvent
	for len(events) < 2 {
		req := l.next(protocol.ReportExec.Name)
		events = append(events, decode[protocol.NodeExecEvent](t, req.Params))
		l.answer(req, protocol.Ack{OK: true})
	}
	start, end := events[0], events[1]
	if start.CallID != "bg" || end.CallID != "bg" {
		t.Errorf("the call is not named: %+v %+v", start, end)
	}
	if start.Event != "started" || start.EventID != first.EventID || start.SessionID != first.SessionID {
		t.Errorf("%+v was sent again as %+v", first, start)
	}
	if end.Event != "failed" || end.SessionID != start.SessionID || end.ExitCode == nil || *end.ExitCode != 3 || end.EventID == start.EventID {
		t.Errorf("%+v", end)
	}
}

func TestCommandsOfADeadNodeAreReportedWhenTheNextOneConnects(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "commands"), 0o700); err != nil {
		t.Fatal(err)
	}
	const entry = `{"node":{"pid":1,"born":"long ago"},"command":{"pid":1,"born":"long ago"},"started":7,"background":true,"call":"c7"}`
	if err := os.WriteFile(filepath.Join(home, "commands", "left.json"), []byte(entry), 0o600); err != nil {
		t.Fatal(err)
	}
	g := start(t, func(o *Options) { o.Home = home })
	l, _ := g.accept()
	e := decode[protocol.NodeExecEvent](t, l.next(protocol.ReportExec.Name).Params)
	if e.Event != "failed" || e.SessionID != "left" || e.StartedAt != 7 || e.CallID != "c7" || e.EndedAt == 0 || !strings.Contains(e.OutputTail, "node ended") {
		t.Errorf("%+v", e)
	}
}
