package node

import (
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
)

func TestAnIdleNodeCallsEveryFourMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, nil)
		l, _ := g.accept()
		l.answer(receive(t, l.got, "the list of terminals"), protocol.Ack{})
		synctest.Wait()
		began := time.Now()
		for i := 1; i <= 3; i++ {
			time.Sleep(keepAlive)
			req := receive(t, l.got, "a sign of life")
			if req.Method != protocol.ToolsList.Name || time.Since(began).Round(time.Second) != time.Duration(i)*keepAlive {
				t.Errorf("got %s after %v, want %s after %v", req.Method, time.Since(began), protocol.ToolsList.Name, time.Duration(i)*keepAlive)
			}
			l.answer(req, protocol.ToolsListResult{})
		}
	})
}
