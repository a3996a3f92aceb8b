package inbox

import (
	"fyne.io/fyne/v2"

	"fairlead/app/grant"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// app shows an app that asks to connect. The person chooses its permissions and machines.
func app(q protocol.Question, at place) subject {
	a := *q.App
	permissions := grant.NewPermissions(a.Scopes, a.Scopes, at.onChange)
	machines := grant.NewMachines(at.view.Machines, len(a.Nodes) > 0, a.Nodes, at.onChange)
	var on fyne.CanvasObject = machines.Box
	networks := len(a.Networks) > 0
	if networks {
		on = widgets.NewParagraph(format.Capital(grant.NetworksText(len(a.Nodes), len(a.Networks))), style.ColorText, "text")
	}
	text, _ := wording.Reveal(question.ConsentText(a))
	return subject{
		rows: []fyne.CanvasObject{
			widgets.NewParagraph(text, style.ColorText, "text"),
			widgets.NewParagraph("Allow it only if your browser shows the same code:", style.ColorMuted, style.SizeSmall),
			widgets.NewParagraph(a.Code, style.ColorText, style.SizeTitle),
			widgets.NewSectionHeading("IT MAY"), permissions.Box,
			widgets.NewSectionHeading("ON"), on,
		},
		isReady: func() bool {
			_, ok := machines.Chosen()
			return (ok || networks) && len(permissions.Chosen()) > 0
		},
		complete: func(p *protocol.QuestionAnswerParams) bool {
			p.Nodes, _ = machines.Chosen()
			if networks { // they stay as they are
				p.Nodes, p.Networks = a.Nodes, a.Networks
			}
			p.Scopes = permissions.Chosen()
			return true
		},
	}
}
