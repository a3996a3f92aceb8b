package inbox

import (
	"testing"
	"time"

	"fairlead/app/golden"
	"fairlead/gateway/protocol"
)

func TestDialogMatchesGolden(t *testing.T) {
	b := newBench(t, ask("1", "make -j4 && sudo systemctl restart parser"))
	golden.Markup(t, "command", b.Box)
	b.wait(2 * time.Second)
	golden.Markup(t, "command-armed", b.Box)
}

func TestDialogOfSeveralQuestionsMatchesGolden(t *testing.T) {
	edit := ask("2", "")
	edit.Tool, edit.Effect = "Edit", protocol.EffectWrite
	edit.Args = []byte(`{"path":"/srv/parser/a.go","old":"a","new":"b"}`)
	edit.Preview = &protocol.CallPreview{Folder: "/srv/parser", Diff: "--- a.go\n+++ a.go\n@@ -1 +1 @@\n-a\n+b\n"}
	b := newBench(t, edit, ask("3", "ls"))
	golden.Markup(t, "change-1-of-2", b.Box)
}
