// Package settings is the settings window: which model answers, how the windows look, and where things are.
package settings

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Handlers are what the window does beside changing the configuration.
type Handlers struct {
	OpenURL  func(*url.URL)
	OpenPath func(string) // a folder, in the system's file manager
	Theme    func(mode style.Mode, scale float32)
	Copy     func(string)
	// PickFolder asks for a folder; done is not called when the person chooses none.
	PickFolder func(done func(dir string))
	Local      Local    // nil when the gateway runs elsewhere
	Gateways   Gateways // nil where windows on other gateways cannot be opened
}

// Page is the content of the window. It belongs to the GUI thread.
type Page struct {
	widget.BaseWidget
	ctx context.Context
	app *state.App
	h   Handlers
	box fyne.CanvasObject

	models    *models
	tabs      *container.AppTabs
	elsewhere *elsewhere // nil where there are no other gateways
	every     *allSettings
	openAll   func()
}

// New makes the window's content; it lives until ctx ends.
func New(ctx context.Context, app *state.App, h Handlers, version string) *Page {
	p := &Page{ctx: ctx, app: app, h: h}
	p.models = newModels(p)
	everySetting, settings := container.NewStack(), state.NewSettings(app) // filled when somebody looks, and loaded by then
	go settings.Follow(ctx)
	all := container.NewTabItem("All settings", everySetting)
	tabs := container.NewAppTabs(
		container.NewTabItem("Models", p.models.box),
		container.NewTabItem("General", p.general()),
		container.NewTabItem("This computer", p.computer()),
	)
	if h.Gateways != nil {
		p.elsewhere = newElsewhere(p)
		tabs.Append(container.NewTabItem(gatewaysTitle, p.elsewhere.box))
	}
	for _, t := range []*container.TabItem{container.NewTabItem("Advanced", p.advanced()), all, container.NewTabItem("About", p.about(version))} {
		tabs.Append(t)
	}
	tabs.SetTabLocation(container.TabLocationTop)
	tabs.OnSelected = func(t *container.TabItem) {
		if t == all && p.every == nil {
			p.every = p.all(settings)
			everySetting.Objects = []fyne.CanvasObject{p.every.box}
			everySetting.Refresh()
		}
	}
	p.openAll = func() { tabs.Select(all) }
	p.tabs = tabs
	p.box = container.NewStack(widgets.NewRect("background", "", 0), tabs)
	p.ExtendBaseWidget(p)
	return p
}

// Turn goes on by so many tabs, and from the last to the first: the toolkit's tabs do not take the keyboard.
func (p *Page) Turn(by int) {
	n := len(p.tabs.Items)
	p.tabs.SelectIndex((p.tabs.SelectedIndex() + by + n) % n)
	if c := fyne.CurrentApp().Driver().CanvasForObject(p); c != nil {
		c.Unfocus() // what has it is on the tab before
	}
}

const gatewaysTitle = "Gateways"

// Invite shows an invitation to pair, for the person to take.
func (p *Page) Invite(link string) {
	if p.elsewhere == nil {
		return
	}
	for _, t := range p.tabs.Items {
		if t.Text == gatewaysTitle {
			p.tabs.Select(t)
		}
	}
	p.elsewhere.invitation.SetText(link)
}

// Find shows the settings that have each word of a query.
func (p *Page) Find(query string) {
	p.openAll()
	p.every.search.SetText(query)
}

// CreateRenderer implements fyne.Widget.
func (p *Page) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(p.box) }

func page(rows ...fyne.CanvasObject) fyne.CanvasObject {
	return widgets.NewVScroll(widgets.Inset(style.Page, style.Page, style.Page, style.Page, widgets.Limit(720, true, widgets.Col(style.Page, rows...))))
}

// section is a group of settings under its name.
func section(title string, rows ...fyne.CanvasObject) fyne.CanvasObject {
	return widgets.Col(style.Inside, append([]fyne.CanvasObject{heading(title)}, rows...)...)
}

func heading(text string) fyne.CanvasObject {
	h := widgets.NewHeading(text, style.SizeTitle)
	h.Ellipsis = true
	return h
}

func muted(text string) *widgets.Paragraph {
	return widgets.NewParagraph(text, style.ColorMuted, "text")
}

// set changes a setting; a failure is shown where the person looks.
func (p *Page) set(path string, value any, result *widgets.Paragraph) {
	bind.Go(p.ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, p.app.Set(ctx, path, value) }, func(_ struct{}, err error) {
		if err != nil {
			result.Set(problem(err), style.ColorBad)
			return
		}
		result.Set("✓ Saved.", style.ColorGood)
	})
}

// problem makes a sentence of an error.
func problem(err error) string {
	s := strings.TrimSpace(err.Error())
	if s == "" {
		return "It did not work."
	}
	return protocol.Capital(s)
}

// dollars is a price per million tokens.
func dollars(v *float64) string {
	if v == nil {
		return "?"
	}
	return fmt.Sprintf("$%g", math.Round(*v*1e6)/1e6) // one made of a price per token has errors behind
}

func contextText(m protocol.ModelInfo) string {
	var parts []string
	if m.ContextWindow > 0 {
		parts = append(parts, state.Tokens(m.ContextWindow))
	}
	if m.PriceIn != nil {
		parts = append(parts, dollars(m.PriceIn)+" in, "+dollars(m.PriceOut)+" out")
	}
	if !m.Tools {
		parts = append(parts, "no tools")
	}
	return strings.Join(parts, " · ")
}
