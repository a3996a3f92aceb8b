package window

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Pages is the place where one page at a time stands instead of the chat.
type Pages struct {
	box     *fyne.Container
	ctx     context.Context
	side    *side
	canvas  func() fyne.Canvas
	changed func() // is called when another page, or none, is open

	page       host.View // nil for none
	title      string
	at         host.Target // what the page shows of its kind, such as a machine; nil for its start
	cancel     context.CancelFunc
	head       *fyne.Container // over the page: the buttons before its title
	menuButton *widgets.Button // opens the drawer
	backButton *widgets.Button // to the list in whose place the page stands
}

func newPages(ctx context.Context, s *side, canvas func() fyne.Canvas, changed func()) *Pages {
	p := &Pages{box: container.NewStack(), ctx: ctx, side: s, canvas: canvas, changed: changed}
	p.addHead()
	p.box.Hide()
	return p
}

// addHead creates the buttons before the title of the next page.
func (p *Pages) addHead() {
	p.menuButton = widgets.NewIconButton("menu", "Sidebar", p.side.toggle)
	p.backButton = widgets.NewQuietButton("Back", "back", func() { p.back() })
	p.backButton.Hide()
	p.head = widgets.Row(style.Gap, -1, p.menuButton, p.backButton)
}

// Open opens the page of an entry at a place, instead of the present one.
func (p *Pages) Open(e host.Entry, at host.Target) {
	widgets.Opening(p.canvas(), func() { p.open(e, at) })
}

func (p *Pages) open(e host.Entry, at host.Target) {
	if p.page == nil || !e.Stays || p.title != e.Title {
		p.forget()
		p.canvas().Unfocus() // the composer is hidden now
		var ctx context.Context
		ctx, p.cancel = context.WithCancel(p.ctx)
		p.title, p.at = e.Title, at
		p.addHead()
		p.page = e.New(ctx)
		p.box.Objects = []fyne.CanvasObject{widgets.NewRect("background", "", 0), p.page.Content(), widgets.Inset(style.Group, 0, 0, style.Inside, container.NewVBox(p.head))}
		p.side.close()
		p.changed()
		if f, ok := p.page.(host.Focuser); ok {
			f.Focus(p.canvas())
		}
	}
	host.OpenAt(p.page, at)
}

// Close shows the chat again.
func (p *Pages) Close() {
	if p.page != nil {
		p.forget()
		p.changed()
	}
}

func (p *Pages) forget() {
	if p.cancel != nil {
		p.cancel()
	}
	p.page, p.title, p.at, p.cancel, p.box.Objects = nil, "", nil, nil, nil
}

// Page returns the open page; nil for none.
func (p *Pages) Page() host.View { return p.page }

// Title is the title of the open page; empty for none.
func (p *Pages) Title() string { return p.title }

// At is what the page shows of its kind, such as a machine; nil for its start.
func (p *Pages) At() host.Target { return p.at }

// MoveTo says what the page shows now of its kind.
func (p *Pages) MoveTo(at host.Target) { p.at = at }

// back goes back within the page, and reports whether it did.
func (p *Pages) back() bool { return p.page != nil && p.page.Back() }

// ShowWayBack shows or hides the way back from the page to the list in whose place it stands.
func (p *Pages) ShowWayBack(on bool) {
	if p.backButton.Visible() != on {
		widgets.SetVisible(p.backButton, on)
		if p.page != nil {
			p.arrange()
			p.box.Refresh()
		}
	}
}

// arrange shows the open page, if there is one, with the buttons before its title. The drawer's button
// is for narrow windows only.
func (p *Pages) arrange() {
	widgets.SetVisible(p.box, p.page != nil)
	if p.page == nil {
		return
	}
	hasBack := p.backButton.Visible()
	widgets.SetVisible(p.menuButton, p.side.isNarrow)
	space := fyne.Size{}
	if p.side.isNarrow || hasBack {
		space = p.head.MinSize().AddWidthHeight(2*style.Inside, 0)
	}
	widgets.ReserveTitleSpace(space, hasBack)
}
