package settings

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/doctor"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// checkUpTimeout is the time limit of all checks; the model may be slow.
const checkUpTimeout = time.Minute

// help is the page that checks for problems.
func (p *view) help() fyne.CanvasObject {
	c := &helpPage{page: p, list: container.NewVBox(), status: widgets.NewStatus()}
	c.status.Hide()
	c.check = widgets.NewButton("Check now", "activity", c.run)
	c.check.Primary = true
	c.copy = widgets.NewButton("Copy report", "copy", func() {
		p.e.Copy(checkUpReport(p.o.About.summary(), c.found))
	})
	c.copy.Hide()
	rows := []fyne.CanvasObject{p.section("Check for problems",
		mutedText("Checks the data folder, the keychain, the gateway, the machines and the model."),
		widgets.Flow(style.Inside, c.check, c.copy), c.status, c.list)}
	if l := p.o.Local; l != nil {
		rows = append(rows, p.section(logsSection, p.pathRow("Folder", l.LogDir)))
	}
	keys := widgets.NewButton("Show all shortcuts", "", func() { p.e.Open(host.Page(shortcutsSection)) })
	return form(append(rows, p.section(shortcutsSection, mutedText(widgets.ShortcutName("/", false)+" shows them from everywhere."), widgets.Row(style.Inside, -1, keys)))...)
}

// helpPage is the state of the page.
type helpPage struct {
	page        *view
	found       []doctor.Finding
	list        *fyne.Container
	status      *widgets.Paragraph
	check, copy *widgets.Button
}

func (c *helpPage) run() {
	c.check.Disable()
	c.status.Set("Checking…", style.ColorMuted)
	c.status.Show()
	p, home := c.page, ""
	if p.o.Local != nil {
		home = p.e.Feed.View().Status.Home
	}
	bind.Go(p.ctx, func(ctx context.Context) ([]doctor.Finding, error) {
		ctx, cancel := context.WithTimeout(ctx, checkUpTimeout)
		defer cancel()
		return checkUp(ctx, p.e.Feed, home, p.o.About.Version), nil
	}, func(found []doctor.Finding, _ error) {
		c.check.Enable()
		c.show(found)
	})
}

func (c *helpPage) show(found []doctor.Finding) {
	c.found = found
	problems := 0
	c.list.Objects = nil
	for _, f := range found {
		if f.State == doctor.Bad || f.State == doctor.Warning {
			problems++
		}
		c.list.Add(c.row(f))
	}
	if problems == 0 {
		c.status.Set("✓ No problems found.", style.ColorGood)
	} else {
		c.status.Set(format.Plural(problems, "problem")+" found.", style.ColorNeedsYou)
	}
	c.copy.Show()
	c.list.Refresh()
}

// findingIcons are the icons of the states with their colours.
var findingIcons = map[string]struct {
	icon  string
	color fyne.ThemeColorName
}{
	doctor.OK: {"check", style.ColorGood}, doctor.Note: {"info", style.ColorMuted},
	doctor.Warning: {"warning", style.ColorNeedsYou}, doctor.Bad: {"cross", style.ColorBad},
}

func (c *helpPage) row(f doctor.Finding) fyne.CanvasObject {
	icon := findingIcons[f.State]
	lines := []fyne.CanvasObject{widgets.NewHeading(format.Capital(f.Check), "text"), mutedText(format.Capital(f.Found))}
	if f.Fix != "" && f.State != doctor.OK {
		lines = append(lines, widgets.NewParagraph("→ "+format.Capital(f.Fix), style.ColorText, "text"))
	}
	if text, do := c.fix(f.Action); do != nil {
		lines = append(lines, widgets.Row(style.Inside, -1, widgets.NewButton(text, "", do)))
	}
	text := widgets.WithIcon("text", 0, widget.NewIcon(style.IconIn(icon.icon, icon.color)), widgets.Col(style.Gap, lines...))
	return widgets.Inset(style.Inside, 0, style.Inside, 0, text)
}

// fix returns the button for an action; do is nil for none.
func (c *helpPage) fix(a doctor.Action) (text string, do func()) {
	p := c.page
	switch a {
	case doctor.Resume:
		return "Resume agent", func() {
			p.run(c.status, func(ctx context.Context) error {
				return feed.Send(ctx, p.e.Feed, protocol.AgentPause, protocol.PauseParams{})
			}, c.run)
		}
	case doctor.Model:
		return "Open Models", func() { p.e.Open(host.Page(ModelsTitle)) }
	case doctor.Limits:
		return "Open " + computerTitle, func() { p.e.Open(host.Page(computerTitle)) }
	case doctor.Machines:
		return "Open Machines", func() { p.e.Open(host.Machine("")) }
	case doctor.Folder:
		if home := p.e.Feed.View().Status.Home; home != "" && p.o.Local != nil {
			return "Open data folder", func() { p.e.Open(host.Folder(home)) }
		}
	}
	return "", nil
}
