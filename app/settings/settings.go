// Package settings is the settings window: models, appearance, access of the agent, gateways, and
// information about the program.
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

// Handlers are the window's callbacks.
type Handlers struct {
	OpenURL  func(*url.URL)
	OpenPath func(string) // opens a folder in the system's file manager
	Theme    func(mode style.Mode, scale float32)
	Copy     func(string)
	// PickFolder asks for a folder; done is not called if the person cancels.
	PickFolder func(done func(dir string))
	Local      Local    // nil if the gateway is remote
	Gateways   Gateways // nil if windows of other gateways cannot be opened
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
	elsewhere *elsewhere // nil without other gateways
	every     *allSettings
	openAll   func()
}

// New creates the window's content; it lives until ctx ends.
func New(ctx context.Context, app *state.App, h Handlers, version string) *Page {
	p := &Page{ctx: ctx, app: app, h: h}
	p.models = newModels(p)
	// the settings load now; the page is built when it is opened
	everySetting, settings := container.NewStack(), state.NewSettings(app)
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

// Turn moves by a number of tabs and wraps around; Fyne's tabs cannot be focused.
func (p *Page) Turn(by int) {
	n := len(p.tabs.Items)
	p.tabs.SelectIndex((p.tabs.SelectedIndex() + by + n) % n)
	if c := fyne.CurrentApp().Driver().CanvasForObject(p); c != nil {
		c.Unfocus() // the focused object is on the previous tab
	}
}

const gatewaysTitle = "Gateways"

// Invite shows a pairing invitation for the person to accept.
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

// Find shows the settings that contain each word of a query.
func (p *Page) Find(query string) {
	p.openAll()
	p.every.search.SetText(query)
}

// CreateRenderer implements fyne.Widget.
func (p *Page) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(p.box) }

func page(rows ...fyne.CanvasObject) fyne.CanvasObject {
	return widgets.NewVScroll(widgets.Inset(style.Page, style.Page, style.Page, style.Page, widgets.Limit(720, true, widgets.Col(style.Page, rows...))))
}

// section is a group of settings with a heading.
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

// set changes a setting; an error is shown in the window.
func (p *Page) set(path string, value any, result *widgets.Paragraph) {
	bind.Go(p.ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, p.app.Set(ctx, path, value) }, func(_ struct{}, err error) {
		if err != nil {
			result.Set(problem(err), style.ColorBad)
			return
		}
		result.Set("✓ Saved.", style.ColorGood)
	})
}

// problem formats an error as a sentence.
func problem(err error) string {
	s := strings.TrimSpace(err.Error())
	if s == "" {
		return "Something went wrong."
	}
	return protocol.Capital(s)
}

// dollars formats a price per million tokens.
func dollars(v *float64) string {
	if v == nil {
		return "?"
	}
	// rounds off the error of a price given per token
	return fmt.Sprintf("$%g", math.Round(*v*1e6)/1e6)
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
