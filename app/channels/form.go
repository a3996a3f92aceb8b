package channels

import (
	"context"
	"errors"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// openForm opens the form for a new account, with the first kind of channel.
func (p *Page) openForm() {
	if len(p.view.Kinds) == 0 {
		return
	}
	k := p.view.Kinds[0]
	p.openFields("new", newFields(k, freeAccount(p.view.Accounts, k.Channel)), func() { p.back() })
}

type form struct {
	p          *Page
	f          fields
	draft      unsaved.Draft[fields]
	onClose    func()
	fields     *fyne.Container
	message    *fyne.Container
	save       *widgets.Button
	stop       context.CancelFunc // cancels the login in progress; nil if none exists
	firstField fyne.Focusable
	more       bool // the optional fields are shown
}

// openFields shows a form that starts with a copy of start, or with its draft; id names the form among
// the drafts.
func (p *Page) openFields(id string, start fields, leave func()) {
	draft, f := unsaved.Open(p.e.Drafts, "channel "+id, start)
	o := &form{p: p, f: f.Copy(), draft: draft, onClose: leave, fields: container.NewStack(), message: container.NewStack()}
	p.form, p.detail = o, nil
	title := "Add an account"
	var kind fyne.CanvasObject = widgets.NewParagraph(f.Kind.Title, style.ColorText, "text")
	if f.Exists {
		title = "Settings for " + f.Account
	} else if len(p.view.Kinds) > 1 {
		choose := widgets.NewSelect(lists.Map(p.view.Kinds, func(k protocol.ChannelKind) string { return k.Title }), nil)
		choose.SetSelectedIndex(max(0, slices.IndexFunc(p.view.Kinds, func(k protocol.ChannelKind) bool { return k.Channel == f.Kind.Channel })))
		choose.OnChanged = func(string) {
			k := p.view.Kinds[choose.SelectedIndex()]
			o.f = newFields(k, freeAccount(p.view.Accounts, k.Channel))
			o.saveDraft()
			o.draw()
		}
		kind = widgets.LimitWidth(320, true, choose)
	}
	o.save = widgets.NewButton("Log in and connect", "check", o.submit)
	o.save.Primary = true
	cancel := widgets.NewQuietButton("Cancel", "", o.cancel)
	o.draw()
	discard := draft.Discarding(func() { p.openFields(id, start, leave) })
	p.Put(widgets.NewPage(title, widgets.NewInputForm(o.message, widgets.Row(style.Inside, -1, o.save, cancel),
		widgets.NewDraftLine(draft.IsRestored, discard), widgets.NewField("Channel", kind), o.fields)))
	if o.firstField != nil {
		p.focus(o.firstField)
	}
}

// draw shows the required fields and, on request or if they are used, the optional ones.
func (o *form) draw() {
	var rows, optional []fyne.CanvasObject
	o.firstField = nil
	for _, field := range o.f.Kind.Fields {
		caption := field.Title
		if !field.Required {
			caption += " (optional)"
		}
		changed := func(s string) { o.f.Values[field.Name] = s; o.saveDraft() }
		var entry fyne.CanvasObject
		var focus fyne.Focusable
		switch {
		case field.Long && !field.Secret:
			area := widgets.NewTextArea(3, "")
			area.SetText(o.f.Values[field.Name])
			area.OnChanged = changed
			entry, focus = area, area
		default:
			e := widgets.NewEntry()
			if field.Secret {
				e = widgets.NewPasswordEntry()
				if o.f.Exists {
					e.SetPlaceHolder("Unchanged")
				}
			}
			e.SetText(o.f.Values[field.Name])
			e.OnChanged = changed
			e.OnSubmitted = func(string) { o.submit() }
			entry, focus = e, e
		}
		if o.firstField == nil {
			o.firstField = focus
		}
		row := widgets.NewNamedField(caption, entry)
		if field.Required {
			rows = append(rows, row)
			continue
		}
		optional = append(optional, row)
		o.more = o.more || o.f.Values[field.Name] != ""
	}
	if !o.f.Exists {
		name := widgets.NewEntry()
		name.SetText(o.f.Account)
		name.OnChanged = func(s string) { o.f.Account = s; o.saveDraft() }
		optional = append(optional, widgets.NewField("Account name", name))
	}
	if o.more {
		rows = append(rows, optional...)
	} else if len(optional) > 0 {
		rows = append(rows, widgets.Row(0, -1, widgets.NewQuietButton("More settings", "down", func() {
			o.more = true
			o.draw()
		})))
	}
	widgets.SetContent(o.fields, widgets.Col(style.Group, rows...))
	o.p.Box.Refresh()
}

func (o *form) showMessage(x fyne.CanvasObject) {
	o.message.Objects = []fyne.CanvasObject{x}
	o.p.LayOutText()
}

// submit logs the account in with the form's values. It can be cancelled.
func (o *form) submit() {
	if o.stop != nil {
		return
	}
	p := o.p
	ctx, stop := context.WithCancel(p.ctx)
	o.stop = stop
	o.save.Disable()
	o.showMessage(widgets.NewParagraph("Logging in… This can take half a minute.", style.ColorMuted, "text"))
	f := o.f
	bind.Go(ctx, func(ctx context.Context) (string, error) {
		key, err := p.m.Save(ctx, f)
		if err == nil {
			o.draft.Drop() // also if the person has left the page
		}
		return key, err
	}, func(key string, err error) {
		stop()
		o.stop = nil
		o.save.Enable()
		o.handleSaved(key, err)
	})
}

func (o *form) handleSaved(key string, err error) {
	o.p.show(o.p.m.Value.Get()) // the gateway has stored the account, but the page may not know yet
	if err == nil {
		o.draft.Drop()
		o.p.open(key)
		return
	}
	o.f.StoredKey = key
	o.saveDraft()
	o.showMessage(o.problem(key, err))
}

func (o *form) saveDraft() { o.draft.Save(o.f.Copy()) }

// cancel cancels the login in progress, or else closes the form and discards its content.
func (o *form) cancel() {
	if o.stop == nil {
		o.draft.Drop()
	}
	o.leave()
}

// leave cancels the login in progress, or else closes the form. The draft stays.
func (o *form) leave() {
	if o.stop == nil {
		o.onClose()
		return
	}
	o.stop()
	o.stop = nil
	o.save.Enable()
	o.showMessage(widgets.NewParagraph("Login cancelled.", style.ColorMuted, "text"))
}

func (o *form) problem(key string, err error) fyne.CanvasObject {
	p := o.p
	what := widgets.Problem{Title: "The account was not connected.", Advice: format.Sentence(err.Error()) + " Correct the fields above and try again.", Button: "Try again"}
	act := o.submit
	i := slices.IndexFunc(p.view.Accounts, func(a Account) bool { return a.Key() == key })
	if errors.Is(err, protocol.ErrUnavailable) && i >= 0 {
		what = widgets.Problem{Title: "The account is not connected yet.", Advice: format.Sentence(err.Error()) + " The settings are saved. Correct them, or let Fairlead keep trying.", Button: "Keep trying"}
		a := p.view.Accounts[i]
		act = func() {
			p.m.Start(a)
			p.open(key)
		}
	}
	return widgets.NewErrorBox(what, act)
}
