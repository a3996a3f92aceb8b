package services

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"

	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// visitors lists who gets in to an app, and adds and removes visitors.
type visitors struct {
	d     *detail
	box   *fyne.Container
	list  *widgets.Body
	entry *widgets.Entry
	add   *widgets.Button
	error *widgets.Paragraph // about the address in the entry
	field fyne.CanvasObject  // the entry with its error; hidden while everyone gets in
}

func newVisitors(d *detail) visitors {
	list := widgets.NewBody()
	v := visitors{d: d, list: &list, entry: widgets.NewEntry(), error: widgets.NewStatus()}
	v.entry.SetPlaceHolder("ann@company.com, or *@company.com")
	v.entry.OnSubmitted = func(string) { v.submit() }
	v.add = widgets.NewButton("Add…", "plus", v.submit)
	v.field = widgets.NewField("Add a visitor, or a pattern for several", widgets.LimitWidth(480, true, widgets.Row(style.Inside, 0, v.entry, v.add)), v.error)
	v.box = widgets.Col(style.Group, v.list.Box, v.field)
	return v
}

// show redraws the list after a change, and reports whether it did.
func (v visitors) show(s protocol.Service) bool {
	widgets.SetVisible(v.field, s.SignIn)
	widgets.SetEnabled(v.add, !v.d.waiting)
	return v.list.Draw(fmt.Sprint(s.SignIn, s.Visitors, v.d.waiting), func() fyne.CanvasObject { return v.rows(s) })
}

func (v visitors) rows(s protocol.Service) fyne.CanvasObject {
	d := v.d
	signIn := func(on bool, text, icon string) *widgets.Button {
		b := widgets.NewQuietButton(text, icon, func() { d.change("Nothing was changed", change{ID: d.id, SignIn: &on}) })
		widgets.SetEnabled(b, !d.waiting)
		return b
	}
	if !s.SignIn {
		return widgets.Col(style.Inside, widgets.NewParagraph(everyoneWarning, style.ColorNeedsYou, "text"), widgets.Row(style.Inside, -1, signIn(true, "Require a sign-in…", "shield")))
	}
	rows := []fyne.CanvasObject{v.row("You", "", nil)}
	for _, email := range s.Visitors {
		remove := widgets.NewQuietButton("Remove…", "cross", func() {
			d.do("The visitor was not removed", func(ctx context.Context) error { return d.p.m.Share(ctx, d.id, false, email) }, nil)
		})
		widgets.SetEnabled(remove, !d.waiting)
		rows = append(rows, v.row(email, email, remove))
	}
	if len(s.Visitors) == 0 {
		rows = append(rows, widgets.Row(style.Inside, -1, signIn(false, "Let everyone in…", "globe")))
	}
	return widgets.Col(style.Gap, rows...)
}

// row is a visitor with a link, unless it is a pattern, and a button that removes it, unless it is
// nil.
func (v visitors) row(name, email string, remove *widgets.Button) fyne.CanvasObject {
	shown, _ := wording.Reveal(name)
	text := widgets.NewText(shown, style.ColorText, "text")
	text.Ellipsis = true
	objects := []fyne.CanvasObject{text}
	if !isPattern(email) {
		link := widgets.NewQuietButton("Copy link", "link", func() { v.d.link.copy(email) })
		link.Name = "Copy link for " + shown
		objects = append(objects, link)
	}
	if remove != nil {
		remove.Name = "Remove " + shown
		objects = append(objects, remove)
	}
	return widgets.Row(style.Inside, 0, objects...)
}

// submit adds the visitors in the field, or says at the field what is wrong.
func (v visitors) submit() {
	d := v.d
	emails := emailsIn(v.entry.Text)
	if len(emails) == 0 {
		v.error.Set("Enter an address such as ann@company.com.", style.ColorBad)
		d.p.LayOutText()
		widgets.Focus(v.entry)
		return
	}
	v.error.Set("", style.ColorMuted)
	d.do("", func(ctx context.Context) error { return d.p.m.Share(ctx, d.id, true, emails...) }, func(err error) {
		if err != nil {
			v.error.Set("Not added: "+err.Error()+".", style.ColorBad)
			return
		}
		v.entry.SetText("")
		d.p.e.Say(format.Clip(emails[0], 60) + " may visit the app. Copy a link and send it, so that they get in.")
	})
}
