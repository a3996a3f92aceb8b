// Package skills is the page of skills, with each skill's settings and text, and a form.
package skills

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

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

// Page is the page. It belongs to the GUI thread.
type Page struct {
	ctx context.Context
	m   *Model
	e   host.Env
	widgets.MasterDetail

	view    View
	results []protocol.SkillStatusEntry
	search  *widgets.SearchField
	count   *widgets.Text
	detail  *detail // the latest one
	now     func() time.Time
}

// New creates the page and follows the gateway until ctx ends.
func New(ctx context.Context, e host.Env) *Page {
	p := newPage(ctx, e)
	bind.Follow(ctx, p.m.Follow)
	bind.Watch(ctx, p.m.Value, p.show)
	return p
}

// OpenAt implements [host.Opener].
func (p *Page) OpenAt(to host.Target) {
	if _, isNew := to.(host.New); isNew {
		p.Create()
	}
}

func newPage(ctx context.Context, e host.Env) *Page {
	p := &Page{ctx: ctx, m: newModel(e.Feed), e: e, now: time.Now}
	p.MasterDetail = widgets.NewMasterDetail(widgets.NewItemList(func(i int) { p.open(p.results[i].Path) }), p.page, p.fill)
	p.List.OnMenu = p.menu
	p.count = widgets.NewText("", style.ColorMuted, style.SizeSmall)
	p.count.Ellipsis = true
	p.search = widgets.NewSearchField("Search skills", "")
	p.search.OnChanged = func(string) { p.fill() }
	p.search.OnChoose = func() {
		if len(p.results) > 0 {
			p.open(p.results[0].Path)
		}
	}
	p.ShowList()
	return p
}

func (p *Page) show(v View) {
	p.view = v
	p.Update()
}

// Create opens the form of a new skill.
func (p *Page) Create() { p.openForm() }

// page is the page around the list.
func (p *Page) page(master fyne.CanvasObject) fyne.CanvasObject {
	again := widgets.NewIconButton("reset", "Reload", p.m.Reread)
	add := widgets.NewButton("New skill", "plus", p.Create)
	add.Primary = true
	top := widgets.Inset(0, 0, style.Inside, 0, widgets.Col(style.Gap, p.search, p.count))
	return widgets.NewPage("Skills", widgets.Border(top, nil, nil, nil, master), again, add)
}

// fill lists the results; the objects around the list stay, so that the field keeps the focus.
func (p *Page) fill() {
	v := p.view
	p.results = find(v.Skills, p.search.Text)
	p.List.Set(lists.Map(p.results, item))
	p.count.SetText(stateCounts(v.Skills, len(p.results)))
	p.Master.Draw(fmt.Sprint(v.Loaded, v.Problem, len(v.Skills) == 0, len(p.results) == 0), func() fyne.CanvasObject {
		switch {
		case v.Problem != "":
			return widgets.NewLoadError("The skills could not be loaded.", v.Problem, p.m.Reload)
		case !v.Loaded:
			return widgets.NewLoading()
		case len(v.Skills) == 0:
			return widgets.NewEmptyPage("skill", "No skills yet",
				"A skill describes a way of working that the agent follows each time. Ask the agent in a chat to create one, "+
					"write one here, or put a folder with a SKILL.md into the “skills” folder of the data folder.", widgets.NewButton("New skill", "plus", p.openForm))
		case len(p.results) == 0:
			return widgets.NewEmptyList("search", "No skill found", "No skill contains all of these words.")
		}
		return p.List
	})
}

func stateCounts(list []protocol.SkillStatusEntry, found int) string {
	if len(list) == 0 {
		return ""
	}
	ready, off := 0, 0
	for _, e := range list {
		switch {
		case !e.Enabled:
			off++
		case e.Eligible:
			ready++
		}
	}
	text := fmt.Sprintf("%s · %d ready", format.Plural(len(list), "skill"), ready)
	if off > 0 {
		text += fmt.Sprintf(" · %d off", off)
	}
	if found < len(list) {
		text += fmt.Sprintf(" · %d found", found)
	}
	return text
}

func item(e protocol.SkillStatusEntry) widgets.ListItem {
	word, _ := stateWords(e)
	from := map[string]string{protocol.SkillAgent: "Own", protocol.SkillGlobal: "Shared", protocol.SkillBuiltIn: "Built in"}[e.Source]
	text := strings.Join(strings.Fields(e.Description), " ")
	it := widgets.ListItem{Icon: "skill", Color: style.ColorAccent, Title: e.Name, Detail: word}
	switch {
	case !e.Enabled:
		it.Color, it.Muted = style.ColorMuted, true
	case !e.Eligible:
		it.Color, it.Warn, text = style.ColorNeedsYou, true, cmp.Or(lack(e), text)
	}
	if len(e.Problems) > 0 {
		it.Icon, it.Color, it.Warn = "warning", style.ColorNeedsYou, true
		it.Detail += ", has errors"
	}
	text = cmp.Or(text, "no description")
	if from != "" {
		text = from + " · " + text
	}
	it.Text = text
	return it
}

func (p *Page) menu(i int, at fyne.Position) {
	e := p.results[i]
	widgets.ShowMenuAt(p.List, at, []*fyne.MenuItem{
		fyne.NewMenuItem("Open", func() { p.open(e.Path) }), fyne.NewMenuItem(switchWord(e), func() { p.toggle(e) }),
		fyne.NewMenuItem(editWord(e), func() { p.e.Open(host.AgentFile(e.Path)) }),
	})
}

func (p *Page) toggle(e protocol.SkillStatusEntry) {
	undo := p.m.Enable(e, !e.Enabled)
	text := "“" + e.Name + "” was turned off."
	if !e.Enabled {
		text = "“" + e.Name + "” was turned on."
	}
	p.e.Undo(text, undo, p.now().Add(feed.UndoTime))
}

func switchWord(e protocol.SkillStatusEntry) string {
	if e.Enabled {
		return "Turn off"
	}
	return "Turn on"
}

// editWord returns the label of the edit action: only the agent's own files can be edited.
func editWord(e protocol.SkillStatusEntry) string {
	if e.Source == protocol.SkillAgent {
		return "Edit"
	}
	return "Edit a copy"
}

func (p *Page) open(path string) {
	p.detail = newDetail(p, path)
	p.m.Show(path)
	p.Show(widgets.Detail{Update: p.detail.show, Closed: func() { p.m.Show("") }})
	widgets.Focus(p.detail.toggle)
}
