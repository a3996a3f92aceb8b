package main

import (
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestQuestionNamesAMachineAsItsPersonDoes(t *testing.T) {
	host := &protocol.HostInfo{OS: "Debian", Address: "192.0.2.7"}
	for _, c := range []struct {
		host       *protocol.HostInfo
		name, want string
	}{
		{host, "The big one", "machine   The big one (nas, Debian, 192.0.2.7)\n"},
		{host, "", "machine   nas (Debian, 192.0.2.7)\n"},
		{nil, "The big one", "machine   The big one (nas)\n"},
		{nil, "nas", "machine   nas\n"},
	} {
		if box := questionBox(protocol.Approval{Node: "nas", Host: c.host}, c.name); !strings.Contains(box, c.want) {
			t.Errorf("%q: %s", c.want, box)
		}
	}
}
