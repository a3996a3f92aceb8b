package chatwindow

import (
	"testing"

	"fairlead/gateway/protocol"
)

func TestDeletedChatsAreNamed(t *testing.T) {
	list := []protocol.SessionEntry{{Title: "Fix the\nparser"}, {}, {}}
	for n, want := range map[int]string{1: "“Fix the parser” was deleted.", 3: "3 chats were deleted."} {
		if got := deletedText(list[:n]); got != want {
			t.Errorf("%d chats: %q, want %q", n, got, want)
		}
	}
}
