package state

import (
	"testing"

	"fairlead/app/feed"
	"fairlead/app/question"
	"fairlead/gateway/protocol"
)

func TestNamesOfFilesHideNothingAndKeepTheirEmoji(t *testing.T) {
	for name, want := range map[string]string{
		"plain.txt": "plain.txt", "photo\u202egnp.exe": "photo⟨U+202E⟩gnp.exe", "a\nb\t\x1b[31m": "a⟨U+000A⟩b⟨U+0009⟩⟨U+001B⟩[31m",
		"👨\u200d👩\u200d👧 ❤\ufe0f.png": "👨\u200d👩\u200d👧 ❤\ufe0f.png", "שלום.txt": "שלום.txt",
	} {
		if got := question.VisibleName(name); got != want {
			t.Errorf("%q is shown as %q", name, got)
		}
	}
	tr := protocol.Transfer{Sources: []string{"@here:/a/in\nvoice.txt"}, To: "nas"}
	if got := TransferTitle(feed.View{}, tr); got != "in⟨U+000A⟩voice.txt to nas" {
		t.Errorf("%q", got)
	}
}
