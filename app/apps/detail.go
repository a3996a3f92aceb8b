package apps

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/code"
	"fairlead/app/feed"
	"fairlead/app/grant"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// detail is the page of one app: its access, its permissions and its machines.
type detail struct {
	p           *Page
	id          protocol.AppID
	bar         widgets.Actions
	scroll      func(*fyne.ScrollEvent) // of the whole page
	facts       widgets.Body
	running     widgets.Body // empty and hidden while nothing runs
	stopping    map[string]bool
	choices     widgets.Body
	calls       widgets.Body
	recent      []protocol.JournalEntry // its newest calls
	loaded      string                  // the state of the app for which they were loaded
	callProblem string                  // reason why they could not be loaded
	permissions *grant.Permissions
	machines    *grant.Machines
	note        *widgets.Paragraph // why the choices cannot be stored
}

func newDetail(p *Page, id protocol.AppID) *detail {
	d := &detail{p: p, id: id, facts: widgets.NewBody(), running: widgets.NewBody(), stopping: map[string]bool{}, choices: widgets.NewBody(), calls: widgets.NewBody(), note: widgets.NewStatus()}
	d.bar = widgets.NewActions(d.show)
	return d
}

// show redraws changed parts; if the app is no longer listed, it shows the list.
func (d *detail) show() {
	p := d.p
	a, ok := p.view.Apps.App(d.id)
	if !ok {
		if p.view.Apps.Loaded {
			p.Leave()
		}
		return
	}
	name, _ := wording.Reveal(a.Name)
	drawn := p.Draw(fmt.Sprint("app ", d.id, name), func() fyne.CanvasObject {
		form := widgets.NewForm(widgets.Inset(style.Gap, 0, 0, 0, d.bar.Box), d.facts.Box, d.running.Box, d.choices.Box, d.calls.Box)
		d.scroll = form.Scrolled
		return widgets.NewPage(name, form, widgets.NewQuietButton("All apps", "back", p.Leave))
	})
	drawn = d.bar.DrawActions(fmt.Sprint(a.RevokedAt > 0, name), func() fyne.CanvasObject { return d.actions(a) }) || drawn
	facts := AppFacts(p.view, a, p.now())
	drawn = d.facts.Draw(fmt.Sprint(facts), func() fyne.CanvasObject { return widgets.NewFacts(facts) }) || drawn
	running := AppCommands(p.view, d.id, p.now())
	drawn = d.running.Draw(fmt.Sprint(running, d.stopping), func() fyne.CanvasObject { return d.showRunning(running) }) || drawn
	drawn = d.choices.Draw(fmt.Sprint(a.RevokedAt > 0, a.Scopes, a.Nodes), func() fyne.CanvasObject { return d.choose(a) }) || drawn
	d.loadCalls(a)
	calls := AppCalls(p.view, d.recent, p.now())
	drawn = d.calls.Draw(fmt.Sprint(calls, d.callProblem), func() fyne.CanvasObject { return d.showCalls(calls) }) || drawn
	if drawn {
		p.LayOutText()
	}
}

// back leaves the question that is asked, if there is one.
func (d *detail) back() bool {
	if d.bar.Confirming == "" {
		return false
	}
	d.bar.Confirm("")
	return true
}

// maxCommandHeight is the height from which a command scrolls: four lines.
const maxCommandHeight = 76

// showRunning lists the running commands of the app, each with a button that stops it.
func (d *detail) showRunning(list []RunningCommand) fyne.CanvasObject {
	widgets.SetVisible(d.running.Box, len(list) > 0)
	rows := []fyne.CanvasObject{widgets.NewSectionHeading("RUNNING NOW")}
	for _, c := range list {
		place := widgets.NewText(c.Place, style.ColorText, "text")
		place.Ellipsis = true
		stop := widgets.NewQuietButton("Stop", "stop", func() { d.stop(c.ID) })
		if d.stopping[c.ID] {
			stop.SetText("Stopping…")
			stop.Disable()
		}
		text := code.NewPanel(maxCommandHeight)
		text.SetText(c.Text)
		text.SetWrap(true)
		text.SetForward(d.scroll)
		rows = append(rows, widgets.Col(style.Gap, widgets.Row(style.Inside, 1, widget.NewIcon(style.IconIn("terminal", style.ColorAccent)), place, stop), text))
	}
	return widgets.Col(style.Inside, rows...)
}

// stop stops a command. Its button is disabled until the machine has answered.
func (d *detail) stop(id string) {
	p := d.p
	d.stopping[id] = true
	p.Update()
	p.stop(id, func(err error) {
		delete(d.stopping, id)
		p.e.Failed("The command was not stopped", err)
		p.Update()
	})
}

// loadCalls reads the newest calls again when the app has made another one.
func (d *detail) loadCalls(a protocol.App) {
	now := fmt.Sprint(a.Calls, a.LastUsedAt)
	if d.loaded == now {
		return
	}
	d.loaded = now
	d.p.lastCalls(d.id, func(list []protocol.JournalEntry, err error) {
		if d.recent, d.callProblem = list, ""; err != nil {
			d.callProblem = feed.Sentence(err)
		}
		d.p.Update()
	})
}

func (d *detail) showCalls(calls []wording.Fact) fyne.CanvasObject {
	body := widgets.NewFacts(calls)
	switch {
	case d.callProblem != "":
		body = widgets.NewLoadError("The calls could not be loaded.", d.callProblem, func() {
			d.loaded = ""
			d.p.Update()
		})
	case len(calls) == 0:
		body = widgets.NewParagraph("None yet.", style.ColorMuted, "text")
	}
	return widgets.Col(style.Group, widgets.NewSectionHeading("LAST CALLS ON YOUR MACHINES"), body)
}

func (d *detail) actions(a protocol.App) fyne.CanvasObject {
	if a.RevokedAt > 0 {
		return widgets.NewParagraph("This app can no longer connect. It disappears from the list after 30 days.", style.ColorMuted, "text")
	}
	if d.bar.Editing {
		return d.bar.NameEditor(a.Name, a.Name, func(name string) {
			if name != "" && name != a.Name {
				d.update(a, protocol.AppUpdateParams{Name: &name}, "The app was renamed.")
			}
		})
	}
	ask := widgets.Confirmation{Text: "Revoke access", Icon: "trash", Question: "Revoke access for “" + a.Name + "”?", Yes: "Revoke", No: "Cancel"}
	buttons := []fyne.CanvasObject{widgets.NewButton("Rename", "edit", d.bar.Rename)}
	return widgets.Flow(style.Inside, append(buttons, d.bar.ConfirmButton(ask, d.revoke))...)
}

func (d *detail) revoke() {
	p := d.p
	bind.Run(p.ctx, func(ctx context.Context) error { return p.m.Revoke(ctx, d.id) }, func(err error) {
		d.bar.Confirming = ""
		p.e.Failed("Access was not revoked", err)
		p.Update()
	})
}

// choose shows the permissions and the machines. Each change is stored at once.
func (d *detail) choose(a protocol.App) fyne.CanvasObject {
	if a.RevokedAt > 0 {
		return widgets.NewField("It could", widgets.NewParagraph(grant.Text(a.Scopes...), style.ColorText, "text"))
	}
	d.permissions = grant.NewPermissions(protocol.AppScopes, a.Scopes, func() {
		scopes := d.permissions.Chosen()
		d.update(a, protocol.AppUpdateParams{Scopes: &scopes}, "The permissions were changed.")
	})
	d.note.Set("", style.ColorNeedsYou)
	if len(a.Networks) > 0 {
		on := widgets.NewParagraph(format.Capital(grant.NetworksText(len(a.Nodes), len(a.Networks))), style.ColorText, "text")
		return widgets.Col(style.Group, widgets.NewSectionHeading("IT MAY"), d.permissions.Box, widgets.NewSectionHeading("ON"), on, d.note)
	}
	d.machines = grant.NewMachines(d.p.view.Machines, len(a.Nodes) > 0, a.Nodes, func() {
		nodes, ok := d.machines.Chosen()
		if !ok {
			d.note.Set("Choose at least one machine. Until then nothing changes.", style.ColorNeedsYou)
			d.p.Box.Refresh()
			return
		}
		d.update(a, protocol.AppUpdateParams{Nodes: &nodes}, "The machines were changed.")
	})
	return widgets.Col(style.Group, widgets.NewSectionHeading("IT MAY"), d.permissions.Box, widgets.NewSectionHeading("ON"), d.machines.Box, d.note)
}

func (d *detail) update(a protocol.App, change protocol.AppUpdateParams, text string) {
	p := d.p
	bind.Go(p.ctx, func(ctx context.Context) (func(), error) { return p.m.Update(ctx, a, change) }, func(undo func(), err error) {
		if !p.e.Failed("The app was not changed", err) {
			p.e.Undo(text, undo, p.now().Add(feed.UndoTime))
			return
		}
		d.choices.Forget() // shows again what is stored
		p.Update()
	})
}
