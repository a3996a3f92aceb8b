package settings

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// models is the page of the default model.
type models struct {
	page      *view
	box       fyne.CanvasObject
	list      *fyne.Container // list of providers
	menu      *widgets.Select // the same in a narrow window
	detail    *fyne.Container
	local     *localSection
	providers []protocol.Provider
	selected  string
	current   modelConfig
}

func newModels(p *view) *models {
	m := &models{page: p, list: container.NewVBox(), menu: widgets.NewSelect(nil, nil), detail: container.NewStack()}
	m.local = newLocalSection(m)
	side := widgets.NewVScroll(widgets.Inset(0, style.Inside, style.Group, 0, m.list))
	menu := widgets.Inset(0, style.Inside, style.Group, 0, widgets.LimitWidth(280, true, widgets.NewField("Provider", m.menu)))
	m.box = container.New(sideLayout{}, side, widgets.NewRect(style.ColorLine, "", 0), menu, m.detail)
	m.load("")
	return m
}

// sideLayout is a list of fixed width, a line, a menu and the content. In a narrow window the menu
// stands above the content, in place of the list.
type sideLayout struct{}

const sideWidth = 248

func (sideLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(sideWidth+220, 320) }

func (sideLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	side, line, menu, content := o[0], o[1], o[2], o[3]
	width := sideWidth * style.Size("text") / 14
	narrow := size.Width < 3.2*width // a third list beside the others leaves too little room
	widgets.SetVisible(side, !narrow)
	widgets.SetVisible(line, !narrow)
	widgets.SetVisible(menu, narrow)
	if narrow {
		top := widgets.Fit(menu, size.Width)
		content.Move(fyne.NewPos(0, top))
		content.Resize(fyne.NewSize(size.Width, max(size.Height-top, 0)))
		return
	}
	side.Resize(fyne.NewSize(width, size.Height))
	line.Move(fyne.NewPos(width, 0))
	line.Resize(fyne.NewSize(1, size.Height))
	content.Move(fyne.NewPos(width+1+style.Page, 0))
	content.Resize(fyne.NewSize(size.Width-width-1-style.Page, size.Height))
}

type modelState struct {
	providers []protocol.Provider
	current   modelConfig
}

// modelConfig is the default model in the configuration.
type modelConfig struct {
	protocol.ModelRef
	ThinkingLevel string `json:"thinkingLevel"`
}

// load loads the providers and shows one; empty shows the current one.
func (m *models) load(selected string) {
	bind.Go(m.page.ctx, func(ctx context.Context) (modelState, error) {
		r, err := feed.Call(ctx, m.page.e.Feed, protocol.ModelProviders, protocol.Empty{})
		if err != nil {
			return modelState{}, err
		}
		ref, err := feed.ConfigAt[modelConfig](ctx, m.page.e.Feed, "model")
		return modelState{r.Providers, ref}, err
	}, func(s modelState, err error) {
		if err != nil {
			widgets.SetContent(m.detail, form(widgets.NewErrorBox(widgets.Problem{Title: feed.Sentence(err), Button: "Try again"}, func() { m.load(selected) })))
			return
		}
		m.providers, m.current = s.providers, s.current
		m.showProvider(cmp.Or(selected, s.current.Provider))
	})
}

// showProvider shows a provider's page. If anything had the focus, its name in the list gets it.
func (m *models) showProvider(id string) {
	m.selected = id
	canvas := fyne.CurrentApp().Driver().CanvasForObject(m.list)
	keys := canvas != nil && canvas.Focused() != nil
	var chosen fyne.Focusable
	m.list.Objects = nil
	m.fillMenu()
	for _, p := range m.providers {
		item := widgets.SidebarItem{Icon: "globe", Title: p.Name, Selected: p.ID == id}
		switch {
		case p.ID == m.current.Provider: // in use
			item.Icon, item.Color, item.Unread = "check", style.ColorGood, true
		case p.KeySet:
			item.Icon = "key"
		case p.Local || p.ID == "operator":
			item.Icon = "machine"
		}
		row := widgets.NewSidebarRow(item, func() { m.showProvider(p.ID) })
		if p.ID == id {
			chosen = row.Focusable()
		}
		m.list.Add(row)
	}
	m.list.Refresh()
	if keys && chosen != nil && canvas.Focused() != fyne.Focusable(m.menu) {
		defer canvas.Focus(chosen)
	}
	for _, p := range m.providers {
		if p.ID == id {
			rows, load := m.provider(p)
			widgets.SetContent(m.detail, form(widgets.Col(style.Group, rows...)))
			load()
		}
	}
}

// fillMenu lists the providers in the menu, with the shown one.
func (m *models) fillMenu() {
	m.menu.OnChanged = nil
	m.menu.Options = lists.Map(m.providers, func(p protocol.Provider) string { return p.Name })
	m.menu.SetSelectedIndex(slices.IndexFunc(m.providers, func(p protocol.Provider) bool { return p.ID == m.selected }))
	m.menu.OnChanged = func(string) { m.showProvider(m.providers[m.menu.SelectedIndex()].ID) }
}

// provider returns a provider's page, and a function that loads the rest once it is displayed.
func (m *models) provider(p protocol.Provider) (rows []fyne.CanvasObject, load func()) {
	rows, load = []fyne.CanvasObject{heading(p.Name)}, func() {}
	if p.ID == m.current.Provider {
		rows = append(rows, widgets.NewParagraph("✓ In use", style.ColorGood, "text"))
	}
	result := widgets.NewStatus()
	if p.ID == "operator" {
		use := widgets.NewButton("Use the built-in operator", "check", func() { m.useModel(protocol.ModelRef{Provider: "operator", ID: "built-in"}, result) })
		use.Primary = true
		rows = append(rows, mutedText("It understands plain requests such as “run make test” or “read README.md”, without a model, key or network."))
		if m.current.Provider != p.ID {
			rows = append(rows, widgets.Row(style.Inside, -1, use))
		}
		return append(rows, m.local.box, result), m.local.follow
	}
	rows = append(rows, newAccess(m, p, result).box)
	list := widgets.Col(style.Inside)
	test := widgets.NewButton("Test", "play", nil)
	test.OnTap = func() { m.testProvider(p, "", test, result, list) }
	if p.ID != "compatible" || p.BaseURL != "" {
		rows = append(rows, widgets.Row(style.Inside, -1, test))
	}
	rows = append(rows, result)
	if m.current.Provider == p.ID {
		rows = append(rows, m.thinking()...)
	}
	rows = append(rows, list)
	switch {
	case p.Local:
		rows = append(rows, m.local.box)
		load = func() {
			m.local.follow()
			m.loadModels(p, result, list)
		}
	case p.ID == "compatible" && p.BaseURL == "": // its models can be listed only with an address
	case p.KeySet || p.ID == "compatible":
		load = func() { m.loadModels(p, result, list) }
	}
	return rows, load
}

func (m *models) thinking() []fyne.CanvasObject {
	levels := append([]string{""}, protocol.ThinkingLevels...) // the first is the model's default
	names := make([]string, len(levels))
	for i, level := range levels {
		names[i] = wording.Thinking(level)
	}
	group := widgets.NewSelect(names, nil)
	row, result := withResult(group)
	group.SetSelected(wording.Thinking(m.current.ThinkingLevel))
	group.OnChanged = func(string) {
		level := levels[group.SelectedIndex()]
		var value any
		if level != "" {
			value = level
		}
		m.page.saveSetting("model.thinkingLevel", value, result)
		m.current.ThinkingLevel = level
	}
	return []fyne.CanvasObject{heading("Current model"), widgets.NewFact("Model", m.current.ID), widgets.NewField("Thinking", row)}
}

func (m *models) testProvider(p protocol.Provider, model string, button *widgets.Button, result *widgets.Paragraph, list *fyne.Container) {
	button.Disable()
	result.Set("Testing…", style.ColorMuted)
	bind.Go(m.page.ctx, func(ctx context.Context) (protocol.ModelsTestResult, error) {
		return feed.Call(ctx, m.page.e.Feed, protocol.ModelsTest, protocol.ModelsTestParams{Provider: p.ID, Model: model})
	}, func(r protocol.ModelsTestResult, err error) {
		button.Enable()
		switch {
		case err != nil:
			setError(result, err)
		case !r.OK:
			result.Set("✗ "+r.Message, style.ColorBad)
			button.SetText("Try again")
		default:
			result.Set("✓ "+r.Message, style.ColorGood)
			button.SetText("Test")
			if model == "" {
				m.loadModels(p, nil, list)
			}
		}
	})
}

// maxModels is the maximum number of models listed at once; the search finds the others.
const maxModels = 60

// loadModels fills the list with the provider's models. result may be nil.
func (m *models) loadModels(p protocol.Provider, result *widgets.Paragraph, list *fyne.Container) {
	bind.Go(m.page.ctx, func(ctx context.Context) (protocol.ModelsListResult, error) {
		return feed.Call(ctx, m.page.e.Feed, protocol.ModelsList, protocol.ModelsListParams{Provider: p.ID})
	}, func(r protocol.ModelsListResult, err error) {
		if err != nil {
			if result != nil {
				setError(result, err)
			}
			return
		}
		rows, status := container.NewVBox(), widgets.NewStatus()
		fill := func(query string) { m.listModels(rows, p.ID, r.Models, query, status) }
		search := widgets.NewSearchField("Search models", "")
		search.OnChanged = fill
		fill("")
		list.Objects = []fyne.CanvasObject{heading("Models"), search, status, rows}
		if len(r.Models) == 0 {
			list.Objects = []fyne.CanvasObject{mutedText("The server has no models. Load one there, then test again.")}
		}
		list.Refresh()
	})
}

// listModels lists the models of a provider whose name contains a text.
func (m *models) listModels(rows *fyne.Container, provider string, list []protocol.ModelInfo, query string, status *widgets.Paragraph) {
	rows.Objects = nil
	found := 0
	for _, info := range list {
		if !strings.Contains(strings.ToLower(info.ID+" "+info.Name), strings.ToLower(query)) {
			continue
		}
		if found++; found > maxModels {
			continue
		}
		ref := protocol.ModelRef{Provider: provider, ID: info.ID}
		item := widgets.SidebarItem{Icon: "offline", Title: info.ID, Detail: modelFacts(info), Selected: ref == m.current.ModelRef}
		if ref == m.current.ModelRef {
			item.Icon, item.Color = "check", style.ColorGood
		}
		rows.Add(widgets.NewSidebarRow(item, func() { m.useModel(ref, status) }))
	}
	switch {
	case found == 0:
		rows.Add(mutedText("No models found."))
	case found > maxModels:
		rows.Add(mutedText(fmt.Sprintf("%d more. Search to narrow the list.", found-maxModels)))
	}
	rows.Refresh()
}

func (m *models) useModel(ref protocol.ModelRef, status *widgets.Paragraph) {
	m.page.run(status, func(ctx context.Context) error { return Models{Feed: m.page.e.Feed}.Use(ctx, ref) }, func() {
		status.Set("✓ Now using "+ref.ID+".", style.ColorGood)
		m.load(ref.Provider)
	})
}
