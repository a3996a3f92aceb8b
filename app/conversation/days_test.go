package conversation

import (
	"testing"
	"time"

	"fairlead/app/style"
	"fairlead/gateway/protocol"
)

func TestDaysAreNamedWhereTheyBegin(t *testing.T) {
	days := func(days int, m protocol.Message) protocol.Message {
		m.Timestamp = noon.AddDate(0, 0, -days).Add(-time.Minute).UnixMilli()
		return m
	}
	s := State{Messages: []protocol.Message{
		days(3, user("1", "long ago")), days(3, assistant("2", "r1", protocol.Text("yes"))),
		days(1, user("3", "then")), days(0, assistant("4", "r2", protocol.Text("after midnight"))), days(0, user("5", "now")),
	}}
	b := newBuilder(&style.Machines{})
	assertLines(t, b.build(s, noon), "-- Thursday, 30 April", "You: long ago", "Fairlead: yes", "-- Yesterday", "You: then", "-- Today", "Fairlead: after midnight", "You: now")
	if b.rows["3"] != "m/3" {
		t.Errorf(`the message stands in row %q, want "m/3"`, b.rows["3"])
	}
	assertLines(t, newBuilder(&style.Machines{}).build(State{Messages: s.Messages[4:]}, noon), "You: now")
}
