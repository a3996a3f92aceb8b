package node

import (
	"encoding/json"
	"testing"

	"fairlead/gateway/peer/crash/crashtest"
	"fairlead/gateway/protocol"
)

func TestPanicFailsOneRequestForTheLog(t *testing.T) {
	log := crashtest.Watch(t)
	n := &Node{} // without a log
	for range 2 {
		n.event(t.Context(), protocol.EventFrame{Event: protocol.EventLogsGet, Payload: json.RawMessage(`{"callId":"c1","lines":5}`)})
		n.work.Wait()
	}
	log.Until(2, "node.(*Node).event")
}
