package feed

import (
	"slices"
	"testing"

	"fairlead/gateway/protocol"
)

func TestFileEventsReachSubscribedPages(t *testing.T) {
	t.Parallel()
	var events FileEvents
	var got []string
	follow := func(name string) (stop func()) {
		return events.FollowFiles(func(c protocol.FilesChange) { got = append(got, name+" "+c.Path) })
	}
	stop := follow("first")
	follow("second")
	events.FilesChanged(protocol.FilesChange{Path: "/a"})
	stop()
	stop()
	events.FilesChanged(protocol.FilesChange{Path: "/b"})
	if want := []string{"first /a", "second /a", "second /b"}; !slices.Equal(got, want) {
		t.Errorf("events: got %q, want %q", got, want)
	}
}
