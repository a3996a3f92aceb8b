package inbox

import (
	"cmp"
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// tools shows every change of the tools of a server that have changed or are new.
func tools(q protocol.Question, _ place) subject {
	rows := []fyne.CanvasObject{widgets.NewParagraph(question.ToolsWait, style.ColorMuted, style.SizeSmall)}
	for _, t := range q.Tools.Tools {
		name, _ := wording.Reveal(t.Name)
		text, _ := wording.Reveal(strings.TrimSpace(cmp.Or(t.Diff, t.Description)))
		rows = append(rows, widgets.NewNamedField(name, widgets.NewParagraph(cmp.Or(text, "No description."), style.ColorText, style.SizeSmall)))
	}
	return subject{rows: rows, allow: "Accept", deny: widgets.Choose(len(q.Tools.Tools) == 1, "Turn it off", "Turn them off")}
}
