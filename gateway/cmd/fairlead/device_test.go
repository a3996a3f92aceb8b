package main

import (
	"testing"

	"fairlead/gateway/protocol"
)

func TestAPairedDeviceIsDescribed(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]protocol.Device{
		"Phone is paired as a controller. It may: read, chat.":         {Name: "Phone", Role: protocol.RoleClient, Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeChat}},
		"Attic is paired as the machine attic. Its tools: Bash, Read.": {Name: "Attic", Role: protocol.RoleNode, NodeID: "attic", Reach: &protocol.Reach{Tools: []string{"Bash", "Read"}}},
		"Attic is paired as the machine attic. Its tools: none.":       {Name: "Attic", Role: protocol.RoleNode, NodeID: "attic"},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			if got := pairedText(d); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
