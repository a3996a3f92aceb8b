package files

import (
	"testing"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

func TestFilesOpensOnThisComputerOrWhereItWasLeft(t *testing.T) {
	t.Parallel()
	v := feed.View{Machines: []protocol.NodeInfo{{ID: "nas", Online: true}, {ID: "laptop", Online: true, Local: true}, {ID: "old"}}}
	place := func(id protocol.NodeID) *protocol.NodeID { return &id }
	for name, c := range map[string]struct {
		view feed.View
		last *protocol.NodeID
		want protocol.NodeID
	}{
		"the first time":                   {v, nil, "laptop"},
		"left on another machine":          {v, place("nas"), "nas"},
		"left on the agent's files":        {v, place(""), ""},
		"left on a machine that is off":    {v, place("old"), "laptop"},
		"left on a machine that is gone":   {v, place("gone"), "laptop"},
		"a remote gateway without a node":  {feed.View{Machines: v.Machines[:1]}, nil, "nas"},
		"a remote gateway without machine": {feed.View{}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := startPlace(c.view, c.last); got != c.want {
				t.Errorf("opens %q, want %q", got, c.want)
			}
		})
	}
}
