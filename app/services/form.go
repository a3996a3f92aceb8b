package services

import (
	"context"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// targetField asks for the address of an app, and says in full what was understood.
type targetField struct {
	p       *Page
	entry   *widgets.Entry
	means   *widgets.Paragraph
	newest  bind.Newest // the request that reads the address
	machine func() string
}

func newTargetField(p *Page, text string, machine func() string, changed func()) *targetField {
	f := &targetField{p: p, entry: widgets.NewEntry(), means: widgets.NewParagraph("", style.ColorMuted, style.SizeSmall), machine: machine}
	f.entry.SetPlaceHolder("3000, or http://10.0.0.7:8080")
	f.entry.SetText(text)
	f.entry.OnChanged = func(string) {
		changed()
		f.read()
	}
	f.read()
	return f
}

func (f *targetField) box() fyne.CanvasObject {
	return widgets.NewField("Port or address of the app", widgets.LimitWidth(420, true, f.entry), f.means)
}

// read shows what the text means.
func (f *targetField) read() {
	ctx := f.newest.Context(f.p.ctx)
	text := f.entry.Text
	if text == "" {
		f.set("", style.ColorMuted)
		return
	}
	bind.Go(ctx, func(ctx context.Context) (string, error) { return f.p.m.ReadTarget(ctx, text) }, func(target string, err error) {
		if err != nil {
			f.set(format.Capital(err.Error())+".", style.ColorBad)
			return
		}
		f.set("Means "+target+" on "+f.machine()+".", style.ColorMuted)
	})
}

func (f *targetField) set(text string, color fyne.ThemeColorName) {
	f.means.Set(text, color)
	f.p.LayOutText()
}

// form publishes an app or a terminal.
type form struct {
	p        *Page
	machines []protocol.NodeInfo
	machine  *widgets.Select
	content  *contentFields
	title    *widgets.Entry
	who      *widgets.Select
	emails   *widgets.TextArea
	visitors fyne.CanvasObject // the field of emails
	warning  *widgets.Paragraph
	message  *widgets.Paragraph
	publish  *widgets.Button
	draft    unsaved.Draft[formDraft]
}

// formDraft is the content of a form.
type formDraft struct {
	node               protocol.NodeID
	content            content
	title, who, emails string
}

func (p *Page) openForm() {
	draft, left := unsaved.Open(p.e.Drafts, "publish an app", formDraft{content: content{kind: webApp}, who: onlyYou})
	f := &form{
		p: p, machines: machineChoices(p.view), title: widgets.NewEntry(), emails: widgets.NewTextArea(3, "ann@company.com\n*@company.com"),
		warning: widgets.NewStatus(), message: widgets.NewStatus(), draft: draft,
	}
	p.Show(widgets.Detail{})
	if len(f.machines) == 0 {
		p.Put(widgets.NewPage("Publish an app", widgets.NewEmptyPage("machine", "No machine is known",
			"Published apps run on machines. Add one first, or start Fairlead on it.", widgets.NewQuietButton("Cancel", "", p.Leave))))
		return
	}
	f.machine = widgets.NewSelect(lists.Map(f.machines, protocol.NodeInfo.DisplayName), nil)
	f.machine.SetSelectedIndex(0)
	if n, ok := lists.Find(f.machines, func(n protocol.NodeInfo) bool { return n.ID == left.node }); ok {
		f.machine.SetSelected(n.DisplayName())
	}
	f.content = newContentFields(p, left.content, func() string { return f.machine.Selected }, func() {
		f.save()
		f.showAudience()
	}, f.submit)
	f.machine.OnChanged = func(string) {
		f.save()
		f.content.target.read()
	}
	f.title.SetPlaceHolder("Wiki")
	f.title.SetText(left.title)
	f.title.OnChanged = func(string) { f.save() }
	f.title.OnSubmitted = func(string) { f.submit() }
	f.emails.SetText(left.emails)
	f.emails.OnChanged = func(string) { f.save() }
	f.visitors = widgets.NewField("Visitors", f.emails)
	f.who = widgets.NewSelect(audiences(false), nil)
	f.who.SetSelected(left.who)
	f.who.OnChanged = func(string) {
		f.save()
		f.showAudience()
	}
	f.publish = widgets.NewButton("Publish", "check", f.submit)
	f.publish.Primary = true
	f.put()
}

// put shows the form.
func (f *form) put() {
	p := f.p
	cancel := widgets.NewQuietButton("Cancel", "", f.draft.Discarding(p.Leave))
	rows := []fyne.CanvasObject{
		widgets.NewDraftLine(f.draft.IsRestored, f.draft.Discarding(p.openForm)),
		widgets.NewParagraph("Gives an app or a terminal of a machine an address that browsers can open.", style.ColorText, "text"),
		widgets.NewField("Machine", widgets.LimitWidth(320, true, f.machine)),
	}
	rows = append(append(rows, f.content.rows()...), widgets.NewField("Title", widgets.LimitWidth(420, true, f.title)),
		widgets.NewField("Who gets in", widgets.LimitWidth(320, true, f.who)), f.warning, f.visitors)
	p.Put(widgets.NewPage("Publish an app", widgets.NewInputForm(f.message, widgets.Row(style.Inside, -1, f.publish, cancel), rows...)))
	f.showAudience()
	widgets.FocusIn(p.Box, f.content.first())
}

func (f *form) save() {
	f.draft.Save(formDraft{f.machines[f.machine.SelectedIndex()].ID, f.content.content(), f.title.Text, f.who.Selected, f.emails.Text})
}

// showAudience shows what belongs to the choice of who gets in. Nobody types without a sign-in.
func (f *form) showAudience() {
	isTerminal := f.content.content().isTerminal()
	f.who.Options = audiences(isTerminal)
	if isTerminal && f.who.Selected == everybody {
		f.who.SetSelected(onlyYou)
	}
	widgets.SetVisible(f.visitors, f.who.Selected == andVisitors)
	f.warning.Set(audienceWarning(isTerminal, f.who.Selected), style.ColorNeedsYou)
	f.p.LayOutText()
}

// submit publishes the app, once the person has answered the question about that.
func (f *form) submit() {
	p := f.p
	say := func(text string, color fyne.ThemeColorName) {
		f.message.Set(text, color)
		p.LayOutText()
	}
	c := f.content.content()
	in := publication{
		Node: f.machines[f.machine.SelectedIndex()].ID, Target: c.target, Command: c.command, Username: c.username, Workdir: c.workdir,
		Title: f.title.Text, SignIn: f.who.Selected != everybody,
	}
	if f.who.Selected == andVisitors {
		in.Visitors = emailsIn(f.emails.Text)
	}
	switch {
	case c.problem() != "":
		say(c.problem(), style.ColorBad)
		widgets.Focus(f.content.first())
		return
	case f.who.Selected == andVisitors && len(in.Visitors) == 0:
		say("Enter the address of a visitor, or choose that only you get in.", style.ColorBad)
		widgets.Focus(f.emails)
		return
	}
	say(waitingText, style.ColorNeedsYou)
	f.publish.Disable()
	var id protocol.ServiceID
	bind.Run(p.ctx, f.draft.Saving(func(ctx context.Context) (err error) {
		id, err = p.m.Publish(ctx, in)
		return err
	}), func(err error) {
		f.publish.Enable()
		if err != nil {
			say("Not published: "+err.Error()+".", style.ColorBad)
			return
		}
		f.draft.Drop()
		p.show(p.view, p.m.Value.Get()) // Publish has loaded the new one
		p.open(id)
	})
}

// openContent shows the form that changes what a service shows.
func (p *Page) openContent(s protocol.Service) {
	message := widgets.NewStatus()
	save := widgets.NewButton("Change…", "check", nil)
	save.Primary = true
	fields := newContentFields(p, contentOf(s), func() string { return p.view.Machines.Name(s.NodeID) }, p.LayOutText, func() { save.OnTap() })
	leave := func() { p.open(s.ID) }
	p.Show(widgets.Detail{Back: func() bool { leave(); return true }})
	say := func(text string, color fyne.ThemeColorName) {
		message.Set(text, color)
		p.LayOutText()
	}
	save.OnTap = func() {
		c := fields.content()
		if problem := c.problem(); problem != "" {
			say(problem, style.ColorBad)
			return
		}
		save.Disable()
		say(waitingText, style.ColorNeedsYou)
		bind.Run(p.ctx, func(ctx context.Context) error {
			defer p.m.Load(ctx)
			return p.m.Update(ctx, changeTo(s.ID, c))
		}, func(err error) {
			save.Enable()
			if err != nil {
				say("The app was not changed: "+err.Error()+".", style.ColorBad)
				return
			}
			leave()
		})
	}
	buttons := widgets.Row(style.Inside, -1, save, widgets.NewQuietButton("Cancel", "", leave))
	p.Put(widgets.NewPage("Change “"+title(s)+"”", widgets.NewInputForm(message, buttons, fields.rows()...)))
	widgets.FocusIn(p.Box, fields.first())
}
