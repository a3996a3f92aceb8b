// Package settings is the settings window: which model answers, how the windows look, and where things are.
package settings

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/look"
	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Handlers are what the window does beside changing the configuration.
type Handlers struct {
	OpenURL  func(*url.URL)
	OpenPath func(string) // a folder, in the system's file manager
	Theme    func(mode look.Mode, scale float32)
	Copy     func(string)
}

// Page is the content of the window. It belongs to the GUI thread.
type Page struct {
	widget.BaseWidget
	ctx context.Context
	app *state.App
	h   Handlers
	box fyne.CanvasObject

	models *models
}

// New makes the window's content; it lives until ctx ends.
func New(ctx context.Context, app *state.App, h Handlers, version string) *Page {
	p := &Page{ctx: ctx, app: app, h: h}
	p.models = newModels(p)
	tabs := container.NewAppTabs(
		container.NewTabItem("Models", p.models.box),
		container.NewTabItem("Windows", page(p.appearance()...)),
		container.NewTabItem("About", page(p.about(version)...)),
	)
	tabs.SetTabLocation(container.TabLocationTop)
	p.box = container.NewStack(widgets.NewRect("background", "", 0), tabs)
	p.ExtendBaseWidget(p)
	return p
}

// CreateRenderer implements fyne.Widget.
func (p *Page) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(p.box) }

func page(rows ...fyne.CanvasObject) fyne.CanvasObject {
	return container.NewVScroll(widgets.Inset(look.Page, look.Page, look.Page, look.Page, widgets.Limit(720, true, widgets.Col(look.Group, rows...))))
}

func heading(text string) fyne.CanvasObject { return widgets.NewHeading(text, look.SizeTitle) }
func muted(text string) *widgets.Paragraph {
	return widgets.NewParagraph(text, look.ColorMuted, "text")
}

// set changes a setting; a failure is shown where the person looks.
func (p *Page) set(path string, value any, result *widgets.Paragraph) {
	bind.Go(p.ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, p.app.Set(ctx, path, value) }, func(_ struct{}, err error) {
		if err != nil {
			result.Set(err.Error(), look.ColorBad)
			return
		}
		result.Set("Saved.", look.ColorGood)
	})
}

// appearance is theme and text size.
func (p *Page) appearance() []fyne.CanvasObject {
	result := muted("")
	mode, scale := look.System, float32(1)
	modes := widget.NewRadioGroup([]string{"As the system", "Light", "Dark"}, nil)
	modes.Horizontal = true
	byName := map[string]look.Mode{"As the system": look.System, "Light": look.Light, "Dark": look.Dark}
	sizes := widget.NewRadioGroup([]string{"Small", "Normal", "Large", "Largest"}, nil)
	sizes.Horizontal = true
	scales := map[string]float32{"Small": look.TextSmall, "Normal": look.TextNormal, "Large": look.TextLarge, "Largest": look.TextLargest}
	bind.Go(p.ctx, func(ctx context.Context) (uiConfig, error) { return readUI(ctx, p.app) }, func(ui uiConfig, err error) {
		if err != nil {
			result.Set(err.Error(), look.ColorBad)
			return
		}
		mode, scale = look.Mode(ui.Theme), float32(ui.TextSize)
		for name, m := range byName {
			if m == mode {
				modes.SetSelected(name)
			}
		}
		for name, s := range scales {
			if s == scale {
				sizes.SetSelected(name)
			}
		}
		modes.OnChanged = func(name string) {
			mode = byName[name]
			p.h.Theme(mode, scale)
			p.set("ui.theme", string(mode), result)
		}
		sizes.OnChanged = func(name string) {
			scale = scales[name]
			p.h.Theme(mode, scale)
			p.set("ui.textSize", scale, result)
		}
	})
	return []fyne.CanvasObject{heading("Appearance"), modes, heading("Text size"), sizes, result}
}

type uiConfig struct {
	Theme    string  `json:"theme"`
	TextSize float64 `json:"textSize"`
	FirstRun bool    `json:"firstRunDone"`
}

// about says what this is and where things are.
func (p *Page) about(version string) []fyne.CanvasObject {
	st := p.app.Value.Get().Status
	row := func(label, text string, button fyne.CanvasObject) fyne.CanvasObject {
		name := widgets.NewText(label, look.ColorMuted, "text")
		value := widget.NewLabel(text)
		value.Selectable, value.Wrapping = true, fyne.TextWrapBreak
		var right fyne.CanvasObject
		if button != nil {
			right = container.NewCenter(button)
		}
		return container.NewBorder(nil, nil, container.NewGridWrap(fyne.NewSize(130, 36), container.NewCenter(name)), right, value)
	}
	secrets := "in the system's keychain"
	if st.SecretStore != "keychain" {
		secrets = "in " + st.SecretStore + " (this system has no keychain that answers; only you can read the file)"
	}
	listen := st.Listen
	if listen == "" {
		listen = "nowhere"
	}
	rows := []fyne.CanvasObject{
		heading("Fairlead"), muted("An agent that works on your computers, under your hand."),
		row("Version", version, widgets.NewQuiet("Copy", "copy", func() { p.h.Copy("Fairlead " + version) })),
		row("Data", st.Home, widgets.NewQuiet("Open", "folder", func() { p.h.OpenPath(st.Home) })),
		row("Keys and tokens", secrets, nil),
		row("Gateway", listen, nil),
		row("Up since", time.UnixMilli(st.StartedAt).Format("Monday 15:04"), nil),
	}
	return rows
}

// problem makes a sentence of an error.
func problem(err error) string {
	s := strings.TrimSpace(err.Error())
	if s == "" {
		return "It did not work."
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// dollars is a price per million tokens.
func dollars(v *float64) string {
	if v == nil {
		return "?"
	}
	return fmt.Sprintf("$%g", *v)
}

func contextText(m protocol.ModelInfo) string {
	var parts []string
	if m.ContextWindow > 0 {
		parts = append(parts, fmt.Sprintf("%dk", m.ContextWindow/1000))
	}
	if m.PriceIn != nil {
		parts = append(parts, dollars(m.PriceIn)+" in, "+dollars(m.PriceOut)+" out")
	}
	if !m.Tools {
		parts = append(parts, "no tools")
	}
	return strings.Join(parts, " · ")
}
