package inbox

import (
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// sender shows an unknown sender who wants to write to the agent.
func sender(q protocol.Question, _ place) subject {
	_, about := question.PendingText(q.Sender.PendingPair)
	rows := []fyne.CanvasObject{widgets.NewParagraph(about, style.ColorMuted, style.SizeSmall)}
	if text, _ := wording.Reveal(strings.TrimSpace(q.Sender.FirstMessage)); text != "" {
		rows = append(rows, widgets.NewNamedField("First message", widgets.NewParagraph(text, style.ColorText, "text")))
	}
	return subject{rows: rows}
}
