package feed

import (
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestHitsFitInALine(t *testing.T) {
	h := protocol.SearchHit{Snippet: []protocol.Snippet{{Text: "the "}, {Text: "build", Mark: true}, {Text: " fails\n\non "}, {Text: "nas", Mark: true}, {Text: ", again"}}}
	if got := HitText(h, 40, "“", "”"); got != "the “build” fails on “nas”, again" {
		t.Errorf("got %q, want %q", got, "the “build” fails on “nas”, again")
	}
	h.Snippet[0].Text = strings.Repeat("word ", 50)
	if got := HitText(h, 40, "“", "”"); len(got) > 100 || !strings.HasPrefix(got, "…word word") || !strings.Contains(got, "“build”") {
		t.Errorf(`got %q; want length at most 100, a text that begins with "…word word" and "“build”" in it`, got)
	}
	if got := HitText(protocol.SearchHit{}, 40, "“", "”"); got != "" {
		t.Errorf("got %q, want %q", got, "")
	}
}
