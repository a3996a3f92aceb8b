package services

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"

	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// signedIn lists who is signed in to an app and who visits it now. The rows stay while the same
// people are listed, so that their buttons keep the focus while the numbers change.
type signedIn struct {
	d     *detail
	list  widgets.Body
	texts []*widgets.Paragraph // of the rows
}

func newSignedIn(d *detail) *signedIn { return &signedIn{d: d, list: widgets.NewBody()} }

// show redraws what has changed, and reports whether something did.
func (l *signedIn) show(v VisitList) bool {
	if v.Service != l.d.id {
		v = VisitList{Problem: v.Problem}
	}
	loaded := v.Service != ""
	names := lists.Map(v.Visitors, func(w protocol.ServiceVisitor) string { return w.ID + visitorName(w) })
	changed := l.list.Draw(fmt.Sprint(loaded, v.Problem, names), func() fyne.CanvasObject {
		heading := widgets.NewSectionHeading("VISITORS")
		l.texts = nil
		switch {
		case v.Problem != "":
			return widgets.Col(style.Group, heading, widgets.NewLoadError("The visitors could not be loaded.", v.Problem, l.d.p.m.Visits.Reload))
		case !loaded:
			return widgets.Col(0)
		case len(v.Visitors) == 0:
			return widgets.Col(style.Group, heading, widgets.NewParagraph("Nobody is signed in.", style.ColorMuted, "text"))
		}
		return widgets.Col(style.Group, heading, widgets.Col(style.Inside, lists.Map(v.Visitors, l.row)...))
	})
	for i, t := range l.texts {
		text := visitText(v.Visitors[i], l.d.p.now())
		changed = changed || t.Text() != text
		t.Set(text, style.ColorMuted)
	}
	return changed
}

// row is a visitor with a button that signs them out, unless they have no sign-in.
func (l *signedIn) row(v protocol.ServiceVisitor) fyne.CanvasObject {
	p, shown := l.d.p, visitorName(v)
	name := widgets.NewText(shown, style.ColorText, "text")
	name.Ellipsis = true
	text := widgets.NewParagraph("", style.ColorMuted, style.SizeSmall)
	l.texts = append(l.texts, text)
	line := []fyne.CanvasObject{name}
	if v.ID != "" {
		out := widgets.NewQuietButton("Sign out", "cross", func() {
			p.e.Run(p.ctx, shown+" was not signed out", func(ctx context.Context) error { return p.m.SignOut(ctx, l.d.id, v.ID) }, p.m.Visits.Reload)
		})
		out.Name = "Sign out " + shown
		line = append(line, out)
	}
	return widgets.Col(0, widgets.Row(style.Inside, 0, line...), text)
}
