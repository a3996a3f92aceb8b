package apps

import (
	"context"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/diff"
	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/clients"
)

// offers are the client programs of this computer that can be connected.
type offers struct {
	p        *Page
	programs *ClientPrograms // nil if this computer cannot connect them
	list     []clients.Client
	link     *widgets.Button // connects one of them
}

// find looks for client programs on this computer and shows the page with buttons for them.
func (o *offers) find() {
	p := o.p
	if o.programs == nil {
		return
	}
	bind.Go(p.ctx, o.programs.Offers, func(list []clients.Client, err error) {
		if err != nil { // the page works without them
			return
		}
		o.list = list
		p.Update()
	})
}

// menu offers the same as [offers.buttons], where there are connected apps already.
func (o *offers) menu() *widgets.Button {
	b := widgets.NewMenuButton("Connect", "link", func() []*fyne.MenuItem {
		return lists.Map(o.list, func(c clients.Client) *fyne.MenuItem {
			return fyne.NewMenuItem(c.Title+"…", func() { o.open(c) })
		})
	})
	b.Quiet = true
	b.Hide()
	return b
}

// buttons offer to connect the client programs of this computer.
func (o *offers) buttons() (buttons []fyne.CanvasObject) {
	for _, c := range o.list {
		buttons = append(buttons, widgets.NewButton("Connect "+c.Title+"…", "link", func() { o.open(c) }))
	}
	return buttons
}

// open shows what connecting a client program would change.
func (o *offers) open(c clients.Client) {
	p := o.p
	bind.Go(p.ctx, func(ctx context.Context) (ClientChange, error) { return o.programs.Prepare(ctx, c) }, func(change ClientChange, err error) {
		if !p.e.Failed("The settings of "+c.Title+" could not be read", err) {
			o.showChange(change)
		}
	})
}

func (o *offers) showChange(c ClientChange) {
	p := o.p
	p.Show(widgets.Detail{})
	title := c.Client.Title
	result := widgets.NewStatus()
	connect := widgets.NewButton("Connect", "check", nil)
	connect.Primary = true
	connect.OnTap = func() {
		connect.Disable()
		bind.Run(p.ctx, func(ctx context.Context) error { return o.programs.Connect(ctx, c) }, func(err error) {
			if err != nil {
				connect.Enable()
				result.Set(title+" was not connected: "+feed.Sentence(err), style.ColorBad)
				p.LayOutText()
				return
			}
			o.showConnected(c)
		})
	}
	changes := diff.NewPanel(c.Diff)
	form := widgets.NewForm(
		widgets.NewParagraph(title+" gets its own token, and Fairlead is added to its settings. You can revoke the token here at any time.", style.ColorText, "text"),
		widgets.NewNamedField(c.Path(), changes))
	changes.SetForward(form.Scrolled)
	buttons := widgets.Row(style.Inside, -1, connect, widgets.NewQuietButton("Cancel", "", p.Leave))
	p.Put(widgets.NewPage("Connect "+title, widgets.WithFormFoot(form, result, buttons)))
	widgets.FocusIn(p.Box, connect)
}

// showConnected says what was changed.
func (o *offers) showConnected(c ClientChange) {
	p := o.p
	done := widgets.NewButton("Done", "check", p.Leave)
	done.Primary = true
	text := "Fairlead was added to " + c.Path() + "."
	if c.Diff == "" {
		text = c.Client.Title + " has a new token."
	}
	p.Put(widgets.NewPage(c.Client.Title+" is connected", widgets.NewForm(
		widgets.NewParagraph(text+" Restart "+c.Client.Title+". Fairlead asks you before it changes anything.", style.ColorText, "text"),
		widgets.NewParagraph("To remove it: fairlead mcp install "+c.Client.ID+" --undo", style.ColorMuted, style.SizeSmall),
		widgets.Row(style.Inside, -1, done))))
	widgets.FocusIn(p.Box, done)
	p.e.Feed.LoadApps()
	o.find()
}
