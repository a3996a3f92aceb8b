package display

import (
	"testing"

	"fairlead/gateway/protocol"
)

func TestChangedToolsAreNamed(t *testing.T) {
	t.Parallel()
	changed, added := protocol.ServerTool{Name: "a", Before: "A", Diff: "d"}, protocol.ServerTool{Name: "b"}
	for want, tools := range map[string][]protocol.ServerTool{
		"“notes” has changed its tool “a”.":                               {changed},
		"“notes” has a new tool: “b”.":                                    {added},
		"“notes” has 2 new tools: “b”, “b”.":                              {added, added},
		"“notes” has changed or added 2 tools: “a”, “b”.":                 {changed, added},
		"“notes” has changed or added 5 tools: “a”, “b”, “b” and 2 more.": {changed, added, added, added, added},
	} {
		if got := ToolsQuestion(protocol.ToolsSubject{Server: "notes", Tools: tools}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
