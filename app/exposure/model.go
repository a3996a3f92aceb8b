package exposure

import (
	"context"
	"encoding/json"
	"strings"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// call makes a call that a way in names. It blocks.
func call(ctx context.Context, g feed.Gateway, c protocol.MethodCall) error {
	return feed.Send(ctx, g, protocol.Method[json.RawMessage, json.RawMessage]{Name: c.Method}, c.Params)
}

// group are the ways in of a kind.
type group struct {
	Kind string
	List []protocol.Exposure
	More int // left out
}

// groupsOf returns the ways in by kind that contain all words of a query, at most some of each
// kind.
func groupsOf(list []protocol.Exposure, query string, most int) (groups []group) {
	words := strings.Fields(strings.ToLower(query))
	for _, kind := range protocol.ExposureKinds {
		found := lists.Without(list, func(e protocol.Exposure) bool { return e.Kind != kind || !contains(e, words) })
		if n := len(found); n > 0 {
			groups = append(groups, group{kind, found[:min(n, most)], max(n-most, 0)})
		}
	}
	return groups
}

func contains(e protocol.Exposure, words []string) bool {
	text := strings.ToLower(strings.Join(append([]string{display.ExposureGroup(e.Kind), e.Title, e.Reach}, warningsOf(e)...), "\n"))
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
