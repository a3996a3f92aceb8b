package inbox

import (
	"fyne.io/fyne/v2"

	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// pairing shows a device that wants to be paired, or a machine that offers more than was allowed.
func pairing(q protocol.Question, at place) subject {
	rows := []fyne.CanvasObject{widgets.NewParagraph(question.RequestText(q, at.now), style.ColorText, "text")}
	if source := question.RequestSource(q); source != "" {
		rows = append(rows, widgets.NewParagraph(source, style.ColorMuted, style.SizeSmall))
	}
	if len(q.Pairing.Words) > 0 {
		words := widgets.NewParagraph(format.Words(q.Pairing.Words), style.ColorText, style.SizeTitle)
		rows = append(rows, widgets.NewParagraph("Allow it only if the other device shows the same words:", style.ColorMuted, style.SizeSmall), words)
	}
	return subject{rows: rows}
}
