package window

import (
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/gateway/protocol"
)

func TestDrawerMatchesGolden(t *testing.T) {
	w := newTestWindow(t)
	w.o.Feed.Update(func(v *feed.View) {
		v.Runs.List = []protocol.RunInfo{{RunID: "r", SessionKey: "agent:main:2", State: protocol.RunThinking}}
		v.Questions.Pending = []protocol.Question{{
			ID: "q", Kind: protocol.AskCall, State: protocol.QuestionPending, SessionKey: protocol.MainSession, Node: "laptop", Tool: "Bash", Args: []byte(`{"command":"make -j4"}`), Effect: protocol.EffectExec,
		}}
	}, w.o.Feed.All()...)
	w.UpdateSidebar()
	w.Chat.Window.Resize(fyne.NewSize(500, 700))
	w.FocusSearch()
	golden.Markup(t, "drawer", w.side.drawer)
}
