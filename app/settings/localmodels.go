package settings

import (
	"context"
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// localSection is the part of the page of models for those that this computer can run. The pages of
// several providers show it, one at a time.
type localSection struct {
	m       *models
	model   *localModels
	follows bool
	state   localView

	box      *fyne.Container
	programs *fyne.Container
	again    *widgets.Button
	memory   *widgets.Paragraph
	list     *fyne.Container
	rows     map[string]*localCard // by ID of the model
}

func newLocalSection(m *models) *localSection {
	s := &localSection{m: m, model: newLocalModels(m.page.e.Feed), rows: make(map[string]*localCard)}
	s.programs, s.list, s.memory = widgets.Col(style.Inside), widgets.Col(style.Group), widgets.NewStatus()
	s.again = widgets.NewButton("Search again", "reset", s.search)
	s.programs.Add(mutedText("Looking for model servers…"))
	s.box = widgets.Col(style.Inside, heading("On this computer"), s.programs, widgets.Row(style.Inside, -1, s.again), s.memory, s.list)
	return s
}

// follow loads the section, now and when it changes.
func (s *localSection) follow() {
	if s.follows {
		return
	}
	s.follows = true
	ctx, f := s.m.page.ctx, s.m.page.e.Feed
	bind.Follow(ctx, s.model.Follow)
	bind.Watch(ctx, s.model.Value, func(v localView) { s.show(v, f.View()) })
	bind.Watch(ctx, f.Watch(f.Pulls, f.Status), s.showModels)
}

// search looks for programs again: one may have been installed or started meanwhile.
func (s *localSection) search() {
	s.again.Disable()
	s.again.SetText("Searching…")
	bind.Run(s.m.page.ctx, func(ctx context.Context) error { s.model.Load(ctx); return nil }, func(error) {
		s.again.SetText("Search again")
		s.again.Enable()
	})
}

// show shows what was loaded.
func (s *localSection) show(v localView, f feed.View) {
	s.state = v
	if !v.Loaded && v.Problem == "" {
		return // it is still loading
	}
	var rows []fyne.CanvasObject
	if v.Problem != "" {
		rows = append(rows, widgets.NewParagraph(v.Problem, style.ColorBad, "text"))
	}
	for _, x := range v.Servers {
		rows = append(rows, s.server(x)...)
	}
	for _, p := range v.others() {
		rows = append(rows, mutedText(display.LocalProgram(p, v.System)))
	}
	if text := v.otherServer(); text != "" {
		rows = append(rows, mutedText(text))
	}
	widgets.SetContent(s.programs, rows...)
	if v.Memory > 0 {
		s.memory.Set(fmt.Sprintf("Models for this computer, which has %s of memory:", format.Size(v.Memory)), style.ColorText)
	}
	s.showModels(f)
}

// server returns the rows of a model server that is running.
func (s *localSection) server(x protocol.DetectedServer) []fyne.CanvasObject {
	m, status := s.m, widgets.NewStatus()
	use := widgets.NewButton("Use", "", func() {
		m.page.run(status, func(ctx context.Context) error {
			_, err := Models{Feed: m.page.e.Feed}.UseServer(ctx, x) // and its first model
			return err
		}, func() { m.load(x.Provider) })
	})
	word := map[string]string{"ready": format.Plural(len(x.Models), "model"), "loading": "loading", "needs-key": "needs a key"}[x.State]
	text := widgets.NewParagraph(fmt.Sprintf("%s is running at %s, %s", x.Name, x.BaseURL, word), style.ColorText, "text")
	return []fyne.CanvasObject{widgets.WithIcon("text", style.Gap, widget.NewIcon(style.IconIn("machine", style.ColorGood)), text, use), status}
}

// showModels shows the models. Their cards stay while a download moves, so that a button keeps the
// keyboard.
func (s *localSection) showModels(f feed.View) {
	var cards []fyne.CanvasObject
	for _, r := range s.state.rows(f.Pulls, f.Status.Model) {
		c := s.rows[r.ID]
		if c == nil {
			c = newLocalCard(s)
			s.rows[r.ID] = c
		}
		c.show(r)
		cards = append(cards, c.box)
	}
	if len(cards) != len(s.list.Objects) {
		widgets.SetContent(s.list, cards...)
	}
}

// localCard is a model of the list.
type localCard struct {
	s      *localSection
	row    localRow
	box    fyne.CanvasObject
	icon   *widget.Icon
	title  *widgets.Paragraph
	use    *widgets.Paragraph
	size   *widgets.Paragraph
	state  *widgets.Paragraph
	result *widgets.Paragraph // why the action failed
	button *widgets.Button

	progress *widgets.Progress // of an unfinished download
	pace     pace
	discard  *widgets.Button
}

func newLocalCard(s *localSection) *localCard {
	c := &localCard{s: s, icon: widget.NewIcon(nil), state: widgets.NewStatus(), result: widgets.NewStatus()}
	c.title = widgets.NewParagraph("", style.ColorText, "text")
	c.title.SetStyle(fyne.TextStyle{Bold: true})
	c.use = widgets.NewParagraph("", style.ColorText, "text")
	c.size = widgets.NewParagraph("", style.ColorMuted, style.SizeSmall)
	c.button = widgets.NewButton(actDownload, "", func() { c.act(c.row) })
	c.discard = widgets.NewQuietButton(actDiscard, "", func() {
		row := c.row
		row.Action = actDiscard
		c.act(row)
	})
	c.progress = widgets.NewProgress()
	c.box = widgets.WithIcon("text", style.Gap, c.icon, widgets.Col(style.Gap, c.title, c.use, c.size, c.progress.Box, c.state, c.result), c.button, c.discard)
	return c
}

func (c *localCard) show(r localRow) {
	if r.State != c.row.State {
		c.result.Set("", style.ColorMuted)
	}
	c.row = r
	text := widgets.Choose(r.Kind == rowMuted, style.ColorMuted, style.ColorText)
	c.title.Set(r.Title, text)
	c.use.Set(r.LocalModel.Use, text)
	c.size.Set(r.size(), style.ColorMuted)
	state := r.State
	if r.Action == actStop {
		if speed := c.pace.add(r.Pull.Done, time.Now()); speed > 0 {
			state += " · " + format.Size(speed) + "/s"
		}
	} else {
		c.pace = pace{}
	}
	c.progress.Set(r.fraction())
	widgets.SetVisible(c.progress.Box, r.fraction() > 0)
	widgets.SetVisible(c.discard, r.keepsPart())
	c.state.Set(state, map[int]fyne.ThemeColorName{rowPlain: style.ColorText, rowMuted: style.ColorMuted, rowGood: style.ColorGood, rowBad: style.ColorBad}[r.Kind])
	c.icon.SetResource(style.IconIn(widgets.Choose(r.Kind == rowGood, "check", "offline"), widgets.Choose(r.Kind == rowGood, style.ColorGood, style.ColorMuted)))
	if r.Action != "" {
		c.button.Quiet = r.Kind == rowMuted
		c.button.SetText(r.Action)
	}
	widgets.SetVisible(c.button, r.Action != "")
}

func (c *localCard) act(row localRow) {
	page := c.s.m.page
	var used protocol.ModelRef
	c.button.Disable()
	bind.Run(page.ctx, func(ctx context.Context) (err error) {
		used, err = c.s.model.act(ctx, row)
		return err
	}, func(err error) {
		c.button.Enable()
		switch {
		case err != nil:
			setError(c.result, err)
		case used.Provider != "":
			c.s.m.load(used.Provider)
		}
	})
}
