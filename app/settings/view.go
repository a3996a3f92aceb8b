package settings

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// view is what a page of the settings works with while it is shown.
type view struct {
	ctx      context.Context
	e        host.Env
	o        Options
	sections map[string]*mark // by title
}

func newView(ctx context.Context, e host.Env, o Options) *view {
	return &view{ctx: ctx, e: e, o: o, sections: make(map[string]*mark)}
}

// form is the content of a page, which scrolls as a whole.
func form(rows ...fyne.CanvasObject) fyne.CanvasObject {
	return widgets.NewVScroll(widgets.Inset(0, style.Inside, style.Page, 0, widgets.LimitWidth(720, true, widgets.Col(style.Page, rows...))))
}

// section is a part of a page that a search can lead to.
func (p *view) section(title string, rows ...fyne.CanvasObject) fyne.CanvasObject {
	widgets.NameControls(title, rows...)
	m := newMark(heading(title))
	m.box = widgets.Col(style.Inside, append([]fyne.CanvasObject{m.title}, rows...)...)
	p.sections[title] = m
	return m.box
}

// mark is a setting or a section whose title can be highlighted as the result of a search.
type mark struct {
	box   fyne.CanvasObject // the whole of it
	title fyne.CanvasObject
	band  *widgets.Rect
}

func newMark(title fyne.CanvasObject) *mark {
	m := &mark{band: widgets.NewRect(style.ColorFound, "", style.Corner/2)}
	m.band.Hide()
	m.title = container.NewStack(m.band, title)
	return m
}

// reveal highlights a section once it has been laid out.
func (p *view) reveal(title string) {
	bind.Run(p.ctx, func(context.Context) error { return nil }, func(error) {
		for name, m := range p.sections {
			widgets.SetVisible(m.band, name == title)
		}
		if m := p.sections[title]; m != nil {
			widgets.ScrollToTop(m.box)
		}
	})
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
func (p *view) run(result *widgets.Paragraph, work func(context.Context) error, done func()) {
	bind.Run(p.ctx, work, func(err error) {
		if err != nil {
			setError(result, err)
			return
		}
		done()
	})
}

func (p *view) saveSetting(path string, value any, result *widgets.Paragraph) {
	p.run(result, func(ctx context.Context) error { return feed.Set(ctx, p.e.Feed, path, value) }, func() { showSaved(result, nil) })
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
	result = widgets.NewStatus()
	return widgets.WithResult(control, result), result
}

func setError(result *widgets.Paragraph, err error) { result.Set(feed.Sentence(err), style.ColorBad) }

func (p *view) chooseFolder(chosen func(dir string)) {
	p.e.Open(host.ChooseFolder{Title: "Choose folder", Button: "Choose", Chosen: chosen})
}
