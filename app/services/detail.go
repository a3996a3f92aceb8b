package services

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// detail is the page of one published app. Each part is redrawn only when it changes.
type detail struct {
	p        *Page
	id       protocol.ServiceID
	bar      widgets.Actions
	status   *widgets.Paragraph // of a change that waits for the person's answer, or has failed
	waiting  bool
	facts    widgets.Body
	address  widgets.Body
	link     linkResult
	visitors visitors
	signedIn *signedIn
}

func newDetail(p *Page, id protocol.ServiceID) *detail {
	d := &detail{p: p, id: id, status: widgets.NewStatus(), facts: widgets.NewBody(), address: widgets.NewBody()}
	d.bar = widgets.NewActions(d.show)
	d.link = linkResult{d, widgets.NewStatus()}
	d.visitors = newVisitors(d)
	d.signedIn = newSignedIn(d)
	return d
}

// show redraws changed parts; if the app was deleted, it shows the list.
func (d *detail) show() {
	p := d.p
	s, ok := p.state.Service(d.id)
	if !ok {
		if p.state.Loaded {
			p.Leave()
		}
		return
	}
	drawn := p.Draw(fmt.Sprint("service ", d.id, title(s)), func() fyne.CanvasObject {
		form := widgets.NewForm(widgets.Inset(style.Gap, 0, 0, 0, d.bar.Box), d.status, d.facts.Box, widgets.NewSectionHeading("ADDRESS"), d.address.Box,
			widgets.NewSectionHeading("WHO GETS IN"), d.link.text, d.visitors.box, d.signedIn.list.Box)
		return widgets.NewPage(title(s), form, widgets.NewQuietButton("All published apps", "back", p.Leave))
	})
	drawn = d.bar.DrawActions(fmt.Sprint(s.Enabled, s.Terminal == nil, d.waiting), func() fyne.CanvasObject { return d.actions(s) }) || drawn
	facts := factsOf(p.view, s, p.state.Use[s.ID], p.now())
	drawn = d.facts.Draw(fmt.Sprint(facts), func() fyne.CanvasObject { return widgets.NewFacts(facts) }) || drawn
	drawn = d.address.Draw(fmt.Sprint(s.URL, s.Addresses, s.SignIn), func() fyne.CanvasObject { return d.addresses(s) }) || drawn
	drawn = d.signedIn.show(p.visits) || drawn
	if d.visitors.show(s) || drawn {
		p.LayOutText()
	}
}

// addresses lists where the app is reached, the best address first.
func (d *detail) addresses(s protocol.Service) fyne.CanvasObject {
	p := d.p
	return widgets.Col(style.Group, lists.Map(addressesOf(s), func(a protocol.ServiceAddress) fyne.CanvasObject {
		url := widgets.NewText(a.URL, style.ColorText, "text")
		url.Ellipsis = true
		from := widgets.NewParagraph(fromText(p.view, a.From), style.ColorMuted, style.SizeSmall)
		problem := widgets.NewStatus()
		problem.Set(format.Capital(a.Problem), style.ColorNeedsYou)
		open := widgets.NewButton("Open in browser", "external", func() { d.link.open(s, a.URL) })
		widgets.SetVisible(open, a.Problem == "")
		return widgets.Col(style.Gap, url, from, problem, widgets.Flow(style.Inside, open, widgets.NewQuietButton("Copy address", "copy", func() { copyAddress(p.e, a.URL) })))
	})...)
}

func (d *detail) actions(s protocol.Service) fyne.CanvasObject {
	if d.bar.Editing {
		return d.bar.NameEditor(s.Title, s.Title, func(name string) {
			if name != "" && name != s.Title {
				d.change("The app was not renamed", change{ID: d.id, Title: &name})
			}
		})
	}
	onOff := widgets.NewButton("Turn off", "pause", func() { d.turnOff(s) })
	if !s.Enabled {
		onOff = widgets.NewButton("Turn on…", "play", func() { d.change("The app was not turned on", change{ID: d.id, Enabled: new(true)}) })
	}
	rename := widgets.NewButton("Rename", "edit", d.bar.Rename)
	target := widgets.NewButton(widgets.Choose(s.Terminal == nil, "Change app…", "Change terminal…"), "settings", func() { d.p.openContent(s) })
	remove := d.bar.ConfirmButton(widgets.Confirmation{
		Text: "Delete", Icon: "trash", Question: "Delete “" + title(s) + "” with its address?", Yes: "Delete", No: "Cancel",
	}, d.delete)
	if d.waiting {
		for _, b := range []*widgets.Button{onOff, rename, target, remove} {
			b.Disable()
		}
	}
	return widgets.Flow(style.Inside, onOff, rename, target, remove)
}

const waitingText = "Waiting for your answer. Fairlead asks you about every change of who can reach what."

// do makes a change about which the person is asked. done gets its outcome; nil shows it.
func (d *detail) do(failed string, work func(context.Context) error, done func(error)) {
	p := d.p
	d.waiting = true
	d.bar.Confirming = ""
	d.status.Set(waitingText, style.ColorNeedsYou)
	d.show()
	bind.Run(p.ctx, func(ctx context.Context) error {
		defer p.m.Reload()
		return work(ctx)
	}, func(err error) {
		d.waiting = false
		d.status.Set("", style.ColorMuted)
		switch {
		case done != nil:
			done(err)
		case err != nil:
			d.status.Set(failed+": "+err.Error()+".", style.ColorBad)
		}
		p.Update() // the person may have left the page
		p.LayOutText()
	})
}

func (d *detail) change(failed string, c change) {
	d.do(failed, func(ctx context.Context) error { return d.p.m.Update(ctx, c) }, nil)
}

// turnOff closes the app at once.
func (d *detail) turnOff(s protocol.Service) {
	p := d.p
	p.e.Run(p.ctx, "The app was not turned off", func(ctx context.Context) error { return p.m.TurnOff(ctx, s.ID) }, func() {
		p.m.Reload()
		p.e.Say("“" + title(s) + "” was turned off. Its open pages were closed.")
	})
}

func (d *detail) delete() {
	d.do("The app was not deleted", func(ctx context.Context) error { return d.p.m.Delete(ctx, d.id) }, nil)
}

// linkResult creates links, and tells the person what a copied link does, or why it failed.
type linkResult struct {
	d    *detail
	text *widgets.Paragraph
}

// copy makes a link for a visitor, or for the owner if email is empty, and copies it.
func (l linkResult) copy(email string) {
	p := l.d.p
	l.make(email, func(url string) {
		p.e.Copy(url)
		l.text.Set(linkText(email), style.ColorNeedsYou)
	})
}

// make creates a link and passes it to use, or shows the error.
func (l linkResult) make(email string, use func(url string)) {
	p := l.d.p
	bind.Go(p.ctx, func(ctx context.Context) (string, error) { return p.m.Link(ctx, l.d.id, email) }, func(url string, err error) {
		if err != nil {
			l.text.Set("The link was not made: "+feed.Sentence(err), style.ColorBad)
		} else {
			use(url)
		}
		p.LayOutText()
	})
}

// open opens an address of the app in the browser. Where visitors sign in, a link signs the owner
// in.
func (l linkResult) open(s protocol.Service, address string) {
	p := l.d.p
	if !s.SignIn {
		p.e.Open(host.URL(address))
		return
	}
	l.make("", func(url string) { p.e.Open(host.URL(linkAt(url, s, address))) })
}
