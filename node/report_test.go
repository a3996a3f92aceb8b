package node

import (
	"testing"

	"fairlead/gateway/protocol"
)

func TestOldestReportsGiveWay(t *testing.T) {
	var r pendingEvents
	all := make([]*protocol.NodeExecEvent, maxReports+2)
	for i := range all {
		all[i] = &protocol.NodeExecEvent{}
		lost := r.add(all[i])
		if i < maxReports && lost != nil || i >= maxReports && lost != all[i-maxReports] {
			t.Fatalf("%d lost %v", i, lost)
		}
	}
	if r.contains(all[0]) || r.contains(all[1]) || !r.contains(all[2]) {
		t.Error("others gave way")
	}
	r.remove(all[2])
	if r.contains(all[2]) || len(r.list) != maxReports-1 {
		t.Error("it is not forgotten")
	}
}
