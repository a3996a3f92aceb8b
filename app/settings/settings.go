// Package settings is the window of the settings, with information about the program.
package settings

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"runtime"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// Handlers are the window's callbacks.
type Handlers struct {
	OpenURL  func(*url.URL)
	OpenPath func(string) // opens a folder in the system's file manager
	Copy     func(string)
	// PickFolder asks for a folder; done is not called if the person cancels.
	PickFolder func(done func(dir string))
	Local      *Local   // nil if the gateway is remote
	Gateways   Gateways // nil if windows of other gateways cannot be opened
	// Paired is called when this computer has joined another gateway; it may be nil.
	Paired func()
	// Links are pages of the main window.
	Links []Link
	// Shown is called with the title of each page that is shown.
	Shown func(title string)
	// TestNotification shows a notification for a test.
	TestNotification func()
	Machines         func() // opens the page of machines
}

// About describes this program.
type About struct {
	Version string // such as 0.1.0
	Commit  string // of the source; may be empty
	Changes string // in this version, as Markdown; may be empty
}

// summary describes the program in one line, for reports.
func (a About) summary() string {
	return fmt.Sprintf("Fairlead %s, %s/%s, %s", a.full(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// full is the version with the commit.
func (a About) full() string {
	if a.Commit == "" {
		return a.Version
	}
	return a.Version + " (" + a.Commit + ")"
}

// Link opens a page of the main window.
type Link struct {
	Icon, Title string
	Open        func()
}

// Page is the content of the window. It belongs to the GUI thread.
type Page struct {
	widgets.Composite
	ctx      context.Context
	app      *state.App
	handlers Handlers

	about       About
	pages       *pages
	models      *models
	gateways    *gatewaysPage
	allSettings *allSettings
}

// New creates the window's content with the page of a title; it lives until ctx ends.
func New(ctx context.Context, app *state.App, h Handlers, about About, title string) *Page {
	p := &Page{ctx: ctx, app: app, handlers: h, about: about}
	list := []*entry{
		{icon: "chat", title: ModelsTitle, build: func() fyne.CanvasObject { p.models = newModels(p); return p.models.box }},
		{icon: "sun", title: "General", build: p.general},
		{icon: "bell", title: notificationsTitle, build: p.notifications},
		{icon: "machine", title: computerTitle, build: p.computer},
	}
	if h.Gateways != nil {
		list = append(list, &entry{icon: "globe", title: gatewaysTitle, build: func() fyne.CanvasObject {
			p.gateways = newGatewaysPage(p)
			return p.gateways.box
		}})
	}
	list = append(list,
		&entry{icon: "terminal", title: "Advanced", build: p.advancedSection},
		&entry{icon: "settings", title: allSettingsTitle, build: p.everySetting},
		&entry{icon: "question", title: "Help", build: p.help},
	)
	if about.Changes != "" {
		list = append(list, &entry{icon: "list", title: WhatsNewTitle, build: p.whatsNew})
	}
	list = append(list, &entry{icon: "info", title: "About", build: p.aboutPage})
	for _, l := range h.Links {
		list = append(list, &entry{icon: l.Icon, title: l.Title, link: l.Open})
	}
	p.pages = newPages(list, func(title string) {
		if title == gatewaysTitle && p.gateways != nil { // a window may know that its pairing has ended
			p.gateways.load()
		}
		widgets.CallWith(h.Shown, title)
	})
	p.pages.open(title)
	p.Compose(p, container.NewStack(widgets.NewRect("background", "", 0), p.pages))
	return p
}

func (p *Page) everySetting() fyne.CanvasObject {
	settings := newModel(p.app.Feed)
	bind.Follow(p.ctx, settings.Follow)
	p.allSettings = newAllSettings(p.ctx, settings, p.app.Drafts)
	bind.Watch(p.ctx, settings.Value, p.allSettings.update)
	return p.allSettings.box
}

// Open shows the page with a title.
func (p *Page) Open(title string) { p.pages.open(title) }

// MoveTab moves by a number of pages and wraps around.
func (p *Page) MoveTab(by int) {
	p.pages.move(by)
	if c := fyne.CurrentApp().Driver().CanvasForObject(p); c != nil {
		c.Unfocus() // the focused object may be on the previous page
	}
}

// Invite shows a pairing invitation for the person to accept.
func (p *Page) Invite(link string) {
	if p.handlers.Gateways != nil {
		p.pages.open(gatewaysTitle)
		p.gateways.invitation.SetText(link)
	}
}

// Join shows the form that joins another gateway, as a machine of it or to control it. It returns
// the field for the invitation; nil without other gateways.
func (p *Page) Join(asMachine bool) fyne.Focusable {
	if p.handlers.Gateways == nil {
		return nil
	}
	p.pages.open(gatewaysTitle)
	p.gateways.setRole(asMachine)
	return p.gateways.invitation
}

// Find shows the settings that contain each word of a query.
func (p *Page) Find(query string) {
	p.pages.open(allSettingsTitle)
	p.allSettings.search.SetText(query)
}

func page(rows ...fyne.CanvasObject) fyne.CanvasObject {
	return widgets.NewVScroll(widgets.Inset(style.Page, style.Page, style.Page, style.Page, widgets.LimitWidth(720, true, widgets.Col(style.Page, rows...))))
}

func section(title string, rows ...fyne.CanvasObject) fyne.CanvasObject {
	return widgets.Col(style.Inside, append([]fyne.CanvasObject{heading(title)}, rows...)...)
}

func heading(text string) fyne.CanvasObject {
	h := widgets.NewHeading(text, style.SizeTitle)
	h.Ellipsis = true
	return h
}

func mutedText(text string) *widgets.Paragraph {
	return widgets.NewParagraph(text, style.ColorMuted, "text")
}

// run does work off the GUI thread and then done on it. result shows an error instead.
func (p *Page) run(result *widgets.Paragraph, work func(context.Context) error, done func()) {
	bind.Run(p.ctx, work, func(err error) {
		if err != nil {
			setError(result, err)
			return
		}
		done()
	})
}

func (p *Page) saveSetting(path string, value any, result *widgets.Paragraph) {
	p.run(result, func(ctx context.Context) error { return p.app.Set(ctx, path, value) }, func() { showSaved(result, nil) })
}

func showSaved(result *widgets.Paragraph, err error) {
	if err != nil {
		setError(result, err)
		return
	}
	result.Set("✓ Saved.", style.ColorGood)
}

// withResult puts the result of saving a setting beside its control.
func withResult(control fyne.CanvasObject) (row fyne.CanvasObject, result *widgets.Paragraph) {
	result = widgets.NewParagraph("", style.ColorMuted, "text")
	return widgets.WithResult(control, result), result
}

func setError(result *widgets.Paragraph, err error) { result.Set(feed.Sentence(err), style.ColorBad) }

// formatPrice formats a price per million tokens.
func formatPrice(v *float64) string {
	if v == nil {
		return "?"
	}
	// rounds off the error of a price given per token
	return fmt.Sprintf("$%g", math.Round(*v*1e6)/1e6)
}

func modelFacts(m protocol.ModelInfo) string {
	var parts []string
	if m.ContextWindow > 0 {
		parts = append(parts, wording.Tokens(m.ContextWindow))
	}
	if m.PriceIn != nil {
		parts = append(parts, formatPrice(m.PriceIn)+" in, "+formatPrice(m.PriceOut)+" out")
	}
	if !m.Tools {
		parts = append(parts, "no tools")
	}
	return strings.Join(parts, " · ")
}

// labelledValue is a label with a value, and buttons at the right.
func labelledValue(name string, value fyne.CanvasObject, buttons ...fyne.CanvasObject) fyne.CanvasObject {
	objects := []fyne.CanvasObject{widgets.NewText(name, style.ColorMuted, "text"), value}
	if len(buttons) > 0 {
		objects = append(objects, widgets.Row(style.Inside, -1, buttons...))
	}
	return container.New(&labelledLayout{}, objects...)
}

// labelledLayout puts the label before the value in a column of its own, or above it if the page is
// too narrow for two columns. That depends only on the page's width, so that all facts of a page
// look alike.
type labelledLayout struct {
	above bool // result of the last layout
}

// twoColumnsWidth is the minimum page width for two columns, at the default text size.
const twoColumnsWidth float32 = 480

func labelWidth() float32 { return max(140, 116*style.Size("text")/14) }

func (l *labelledLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	name, value := o[0].MinSize(), o[1].MinSize()
	var right fyne.Size
	if len(o) > 2 {
		right = o[2].MinSize().AddWidthHeight(style.Gap, 0)
	}
	if l.above {
		return fyne.NewSize(max(name.Width, value.Width+right.Width), name.Height+spaceBelowLabel(o[1])+max(value.Height, right.Height))
	}
	return fyne.NewSize(labelWidth()+style.Gap+value.Width+right.Width, max(name.Height+2*style.Inside, value.Height, right.Height))
}

// spaceBelowLabel is the space between a label and the value below it.
func spaceBelowLabel(value fyne.CanvasObject) float32 {
	if _, label := value.(*widget.Label); label {
		return 0
	}
	return style.Gap
}

func (l *labelledLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	l.above = size.Width < twoColumnsWidth*style.Size("text")/14
	name := o[0].MinSize().Height
	left, top := labelWidth()+style.Gap, float32(0)
	o[0].Resize(fyne.NewSize(labelWidth(), name))
	o[0].Move(fyne.NewPos(0, theme.InnerPadding()))
	if l.above {
		left, top = 0, name+spaceBelowLabel(o[1])
		o[0].Resize(fyne.NewSize(size.Width, name))
		o[0].Move(fyne.Position{})
		if _, label := o[1].(*widget.Label); label {
			left = -theme.InnerPadding() // aligns its text with the label
		}
	}
	right := size.Width
	if len(o) > 2 {
		b := o[2].MinSize()
		o[2].Resize(b)
		o[2].Move(fyne.NewPos(right-b.Width, top+(size.Height-top-b.Height)/2))
		right -= b.Width + style.Gap
	}
	o[1].Move(fyne.NewPos(left, top))
	o[1].Resize(fyne.NewSize(max(right-left, 0), size.Height-top))
}
