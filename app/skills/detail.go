package skills

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/markdown"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// detail is the page of one skill: its state, its settings and its text.
type detail struct {
	p    *Page
	path string
	e    protocol.SkillStatusEntry

	toggle  *widgets.Button
	edit    *widgets.Button
	remove  *widgets.Button
	facts   *fyne.Container
	set     *settings
	text    *markdown.View
	problem *widgets.Paragraph
}

func newDetail(p *Page, path string) *detail {
	d := &detail{p: p, path: path, facts: widgets.Col(style.Group), text: markdown.NewView(), problem: widgets.NewParagraph("", style.ColorBad, "text")}
	d.text.OnLink, d.text.OnCopy = func(u *url.URL) { p.e.Open(host.URL(u.String())) }, p.e.Copy
	d.toggle = widgets.NewButton("", "", func() { p.toggle(d.e) })
	d.edit = widgets.NewButton("", "edit", func() { p.e.Open(host.AgentFile(d.path)) })
	d.remove = widgets.NewQuietButton("Delete", "trash", d.delete)
	d.set = newSettings(p)
	return d
}

// show redraws the skill; if it was deleted, the list.
func (d *detail) show() {
	p := d.p
	e, ok := p.view.Skill(d.path)
	if !ok {
		if p.view.Loaded {
			p.Leave()
		}
		return
	}
	d.e = e
	d.toggle.Set(switchWord(e), map[bool]string{true: "pause", false: "play"}[e.Enabled])
	d.edit.SetText(editWord(e))
	widgets.SetVisible(d.remove, e.Source == protocol.SkillAgent)
	d.set.show(e, p.view.Set[e.SettingsKey])
	d.text.SetText(p.view.Text)
	d.problem.Hide()
	if p.view.TextProblem != "" {
		d.problem.Show()
		d.problem.Set("The text could not be loaded: "+p.view.TextProblem, style.ColorBad)
	}
	widgets.SetContent(d.facts, widgets.Col(style.Group, d.lines()...))
	p.Draw("skill "+d.path, func() fyne.CanvasObject { // once only, so that the focus stays
		back := widgets.NewQuietButton("All skills", "back", p.Leave)
		folder := widgets.NewQuietButton("Open folder", "folder", func() { p.e.Open(host.AgentFile(path.Dir(d.path) + "/")) })
		form := widgets.NewForm(widgets.Flow(style.Inside, d.toggle, d.edit, folder, d.remove), d.facts, d.set.box,
			widgets.NewSectionHeading("TEXT"), widgets.Col(style.Inside, d.problem, widgets.LimitLineLength(d.text)))
		d.text.Forward = form.Scrolled
		return widgets.NewPage(e.Name, form, back)
	})
	p.LayOutText()
}

func (d *detail) lines() []fyne.CanvasObject {
	e := d.e
	rows := []fyne.CanvasObject{widgets.NewParagraph(e.Description, style.ColorText, "text")}
	word, why := stateWords(e)
	icon, color := "check", style.ColorGood
	switch {
	case !e.Enabled:
		icon, color = "pause", style.ColorMuted
	case !e.Eligible:
		icon, color = "warning", style.ColorNeedsYou
	}
	if why == "" {
		why = "It can be used now."
		if e.Always {
			why += " Its text is always included."
		}
	}
	rows = append(rows, widgets.NewIconLine(icon, color, format.Capital(word)+". "+why))
	for _, fault := range e.Problems {
		rows = append(rows, widgets.NewErrorBox(widgets.Problem{Title: "Its file has an error.", Advice: fault, Button: editWord(e)}, func() { d.p.e.Open(host.AgentFile(d.path)) }))
	}
	from := source(e) + ", " + e.Location
	if e.Source != protocol.SkillAgent {
		from += ". An edited copy replaces it."
	}
	rows = append(rows, widgets.NewFact("From", from))
	for _, f := range [][2]string{{"Homepage", e.Homepage}, {"License", e.License}, {"Works with", e.Compatibility}} {
		if f[1] != "" {
			rows = append(rows, d.linkFact(f[0], f[1]))
		}
	}
	needs := needsOf(e.Requirements)
	if len(needs) == 0 {
		return append(rows, widgets.NewFact("Needs", "nothing: no machine needs to be online"))
	}
	rows = append(rows, widgets.NewFact("Needs (on one machine)", strings.Join(needs, "\n")))
	var machines []fyne.CanvasObject
	all := machinesOf(e, d.p.view)
	for i, m := range all {
		if i == machinesShown {
			machines = append(machines, widgets.NewText(fmt.Sprintf("and %d more", len(all)-i), style.ColorMuted, style.SizeSmall))
			break
		}
		icon, color := "cross", style.ColorMuted
		if m.Fits {
			icon, color = "check", style.ColorGood
		}
		machines = append(machines, widgets.NewIconLine(icon, color, m.Name+" "+m.Text))
	}
	if len(machines) == 0 {
		machines = append(machines, widgets.NewParagraph("No machine is known yet. Pair one under Machines.", style.ColorMuted, "text"))
	}
	return append(rows, widgets.NewField("Machines", machines...))
}

const machinesShown = 30

// linkFact is a fact; a web address opens in the browser.
func (d *detail) linkFact(name, text string) fyne.CanvasObject {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https"}, u.Scheme) {
		return widgets.NewFact(name, text)
	}
	link := widgets.NewQuietButton(format.Clip(text, 60), "external", func() { d.p.e.Open(host.URL(u.String())) })
	return widgets.NewField(name, widgets.Row(0, -1, link))
}

func (d *detail) delete() {
	p := d.p
	e := d.e
	var undo func()
	p.e.Run(p.ctx, "The skill was not deleted", func(ctx context.Context) (err error) {
		undo, err = p.m.Delete(ctx, e)
		return err
	}, func() {
		p.Leave()
		p.e.Undo("“"+e.Name+"” was deleted.", undo, p.now().Add(feed.UndoTime))
	})
}
