package tools

import (
	"context"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// toolList are the tools of a server, each with a switch.
type toolList struct {
	widgets.Body
	d      *detail
	server protocol.ServerStatus
	checks map[string]*widgets.Check
	all    *widgets.Button // turns all tools on or off
	isBusy bool            // a change is being stored
	again  bool            // there was another change meanwhile
}

func newToolList(d *detail) *toolList { return &toolList{Body: widgets.NewBody(), d: d} }

// show shows the tools of a server, and reports whether it drew them anew.
func (l *toolList) show(s protocol.ServerStatus) bool {
	l.server = s
	key := s.State
	for _, t := range s.Tools {
		key += fmt.Sprintf("\n%s %s %s %s %v %s", t.Name, t.Title, t.Description, t.Effect, t.Changed, t.Before)
	}
	drawn := l.Draw(key, l.rows)
	if !l.isBusy {
		for _, t := range s.Tools {
			l.checks[t.Name].Set(t.Enabled)
		}
		l.nameAll()
	}
	return drawn
}

func (l *toolList) rows() fyne.CanvasObject {
	s := l.server
	l.checks = make(map[string]*widgets.Check)
	l.all = widgets.NewQuietButton("", "", l.turnAll)
	if len(s.Tools) == 0 {
		return widgets.Col(style.Gap, widgets.NewSectionHeading("TOOLS"), widgets.NewParagraph("This server has no tools.", style.ColorMuted, "text"))
	}
	var actions []fyne.CanvasObject
	changed := changedTools(s)
	if len(changed) > 1 {
		actions = append(actions, widgets.NewQuietButton(fmt.Sprintf("Accept all %d", len(changed)), "check", func() { l.accept() }))
	}
	if len(s.Tools) > 1 {
		actions = append(actions, l.all)
	}
	rows := []fyne.CanvasObject{
		widgets.NewSectionHeading("TOOLS", actions...),
		widgets.NewParagraph("The agent can use the checked tools. The server wrote their descriptions and effects; they never replace your approval.", style.ColorMuted, style.SizeSmall),
	}
	for _, t := range append(changed, without(s.Tools)...) {
		rows = append(rows, l.row(t))
	}
	return widgets.Col(style.Inside, rows...)
}

// without returns the tools that did not change.
func without(list []protocol.ServerTool) (unchanged []protocol.ServerTool) {
	for _, t := range list {
		if !t.Changed {
			unchanged = append(unchanged, t)
		}
	}
	return unchanged
}

func (l *toolList) row(t protocol.ServerTool) fyne.CanvasObject {
	name, _ := wording.Reveal(t.Name)
	if t.Title != "" && t.Title != t.Name {
		title, _ := wording.Reveal(t.Title)
		name += " · " + title
	}
	effect := widgets.NewParagraph(effectText(t.Effect)+".", style.ColorMuted, style.SizeSmall)
	var about []fyne.CanvasObject
	if !t.Changed {
		about = []fyne.CanvasObject{description(t.Description, style.ColorText), effect}
	}
	check := widgets.NewCheck(format.Clip(name, 80), func(bool) { l.store() }, about...)
	check.Set(t.Enabled)
	l.checks[t.Name] = check
	if t.Changed {
		return l.changedRow(t, check, effect)
	}
	return check
}

func description(text string, color fyne.ThemeColorName) fyne.CanvasObject {
	text, _ = wording.Reveal(strings.TrimSpace(text))
	if text == "" {
		text, color = "No description.", style.ColorMuted
	}
	return widgets.NewParagraph(text, color, style.SizeSmall)
}

// changedRow shows the accepted description beside the new one, or above it in a narrow window.
func (l *toolList) changedRow(t protocol.ServerTool, check, effect fyne.CanvasObject) fyne.CanvasObject {
	text := description(t.Description, style.ColorText)
	if t.Before != "" && t.Before != t.Description {
		text = container.New(&pairLayout{}, widgets.NewField("Accepted", description(t.Before, style.ColorMuted)), widgets.NewField("New", text))
	}
	if t.Diff != "" && t.Before == t.Description { // of the schemas or annotations
		text = widgets.NewField("Changes", description(t.Diff, style.ColorText))
	}
	accept := widgets.NewButton("Accept", "check", func() { l.accept(t.Name) })
	content := widgets.Col(style.Inside, check,
		widgets.WithIcon(style.SizeSmall, 0, widget.NewIcon(style.IconIn("needsyou", style.ColorNeedsYou)), widgets.NewParagraph(changeText(t), style.ColorText, style.SizeSmall)),
		text, effect, widgets.Row(style.Inside, -1, accept))
	return container.NewStack(widgets.NewRect(style.ColorSurface, style.ColorNeedsYou, style.Corner),
		widgets.Inset(style.Inside, style.Group, style.Group, style.Inside, content))
}

// areAllOn reports whether all tools are checked.
func (l *toolList) areAllOn() bool {
	for _, c := range l.checks {
		if !c.Box.Checked {
			return false
		}
	}
	return true
}

// nameAll names the button for all tools after what it does.
func (l *toolList) nameAll() {
	l.all.SetText(widgets.Choose(l.areAllOn(), "Turn all off", "Turn all on"))
}

// turnAll turns all tools on, or off if they are.
func (l *toolList) turnAll() {
	on := !l.areAllOn()
	for _, c := range l.checks {
		c.Set(on)
	}
	l.store()
}

// store stores which tools are on. Changes meanwhile are stored afterwards, together.
func (l *toolList) store() {
	l.nameAll()
	if l.isBusy {
		l.again = true
		return
	}
	l.isBusy, l.again = true, false
	p, s := l.d.p, l.server
	disabled := disabledTools(s, func(tool string) bool { return l.checks[tool] == nil || l.checks[tool].Box.Checked })
	bind.Run(p.ctx, func(ctx context.Context) error { return p.m.SetTools(ctx, s, disabled) }, func(err error) {
		l.isBusy = false
		if p.e.Failed("The tools were not changed", err) {
			p.Update() // shows again what is stored
			return
		}
		if l.again {
			l.store()
			return
		}
		p.m.Load()
	})
}

// accept accepts changed tools; without names, all.
func (l *toolList) accept(names ...string) {
	l.d.do("The change was not accepted", func(ctx context.Context) error { return l.d.p.m.Accept(ctx, l.d.name, names...) })
}

// pairLayout puts two objects side by side, or one above the other if there is little width.
type pairLayout struct{ height float32 }

// minPairWidth is the width from which they are side by side, at the normal text size.
const minPairWidth = 420

// MinSize implements fyne.Layout.
func (l *pairLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	_, most := widgets.Measure(0, o)
	return fyne.NewSize(most.Width, max(l.height, most.Height))
}

// Layout implements fyne.Layout.
func (l *pairLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	if size.Width < minPairWidth*style.Size("text")/14 {
		top := widgets.Fit(o[0], size.Width)
		o[0].Move(fyne.Position{})
		o[1].Move(fyne.NewPos(0, top+style.Inside))
		l.height = top + style.Inside + widgets.Fit(o[1], size.Width)
		return
	}
	half := (size.Width - style.Group) / 2
	l.height = max(widgets.Fit(o[0], half), widgets.Fit(o[1], half))
	o[0].Move(fyne.Position{})
	o[1].Move(fyne.NewPos(half+style.Group, 0))
}
