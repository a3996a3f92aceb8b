package approve

import (
	"fmt"
	"path"
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/diff"
	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// change shows a change of a file: each hunk of the diff with syntax highlighting, before and after
// side by side if the window is wide enough. If hunks can be allowed one by one, each has a check
// box.
func (v *questionView) change(q protocol.Approval, o *options) []fyne.CanvasObject {
	name, _ := state.Reveal(state.QuestionText(q))
	rows := []fyne.CanvasObject{fact("file", name), fact("change", fmt.Sprintf("+%d −%d", q.Preview.Added, q.Preview.Removed))}
	lang := strings.TrimPrefix(path.Ext(name), ".")
	hunks := state.Hunks(q.Preview.Diff)
	if len(hunks) == 0 {
		text, _ := state.Reveal(q.Preview.Diff)
		whole := diff.NewPanel(text, 0)
		whole.SetForward(v.onScroll)
		return append(rows, whole)
	}
	canPick := state.CanPick(q)
	for _, h := range hunks {
		if canPick {
			rows = append(rows, o.hunkCheck(len(hunks)))
		}
		rows = append(rows, diff.NewHunkView(h, lang, v.onScroll))
	}
	return rows
}
