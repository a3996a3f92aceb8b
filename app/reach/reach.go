// Package reach asks at this computer whether a gateway may reach an address from it.
package reach

import (
	"net"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/computer"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
)

// width is the width of the window with the question.
const width = 560

// armAfter is how long the question is shown before it can be allowed.
const armAfter = 2 * time.Second

// New creates the question. The caller calls Tick of the result several times a second.
func New(q *computer.TargetQuestion, opened time.Time) *widgets.Question {
	host, port, _ := net.SplitHostPort(q.Target) // the node has checked it
	facts := []wording.Fact{{Name: "Asked by", Text: asker(q)}, {Name: "Host", Text: host}, {Name: "Port", Text: port}}
	rows := []fyne.CanvasObject{
		widgets.NewFacts(facts),
		widgets.NewParagraph("“Allow” holds from now on, for every gateway that may use this computer. To take it back, run “fairlead node allow --remove "+q.Target+"” here. "+
			"“Deny” holds until Fairlead starts again.", style.ColorMuted, style.SizeSmall),
	}
	question := widgets.NewQuestion(Title(q), rows, q.Answer, nil)
	question.Tick = func(now time.Time) {
		question.Set(wording.TimeLeft(q.Until.UnixMilli(), now), "Allow from now on", now.Sub(opened) >= armAfter)
	}
	question.Tick(opened)
	return question
}

// Framed returns the content of the window with a question, and its size.
func Framed(q *widgets.Question) (fyne.CanvasObject, fyne.Size) {
	inset := widgets.Inset(style.Group, style.Page, style.Group, style.Page, q.Box)
	return container.NewStack(widgets.NewRect(style.ColorSurface, "", 0), widgets.NewVScroll(inset)), fyne.NewSize(width, widgets.Fit(inset, width))
}

// Title is the title of a question.
func Title(q *computer.TargetQuestion) string {
	return "Allow connections from this computer to " + q.Target + "?"
}

func asker(q *computer.TargetQuestion) string {
	if q.Gateway == "" {
		return "The gateway of this computer"
	}
	name, _ := wording.Reveal(q.Gateway)
	return "The gateway “" + name + "”"
}
