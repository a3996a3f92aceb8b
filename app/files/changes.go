package files

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/diff"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// changeMarks maps each file to a mark if the agent changed it in the last turn of a chat, and each
// folder if it contains such a file.
func (p *Page) changeMarks() map[string]string {
	last, above := map[string]bool{}, map[string]int{}
	for _, c := range p.view.Changed {
		if c.Last && !c.Reverted {
			file := strings.ReplaceAll(c.Path, `\`, "/")
			if last[file] {
				continue // changed by two chats
			}
			last[file] = true
			for dir := path.Dir(file); dir != path.Dir(dir); dir = path.Dir(dir) {
				above[dir]++
			}
		}
	}
	if len(last) == 0 {
		return nil
	}
	marks := map[string]string{}
	for _, e := range p.view.Entries {
		at := strings.ReplaceAll(p.absolutePath(e.Path), `\`, "/")
		switch n := above[at]; {
		case last[at]:
			marks[e.Path] = "changed by the agent"
		case e.Dir && n == 1:
			marks[e.Path] = "1 file changed by the agent"
		case e.Dir && n > 1:
			marks[e.Path] = fmt.Sprintf("%d files changed by the agent", n)
		}
	}
	return marks
}

// chatName returns a chat's title.
func (p *Page) chatName(key protocol.SessionKey) string {
	if s, ok := p.app.Value.Get().Session(key); ok {
		return cmp.Or(s.Label, s.Title, string(key))
	}
	return string(key)
}

// showChanges lists the agent's changes on the machine, of one chat or of all.
func (p *Page) showChanges(chat protocol.SessionKey) {
	var shown []protocol.FileChange
	var items []widgets.ListItem
	chats := []*fyne.MenuItem{fyne.NewMenuItem("All chats", func() { p.showChanges("") })}
	seen := map[protocol.SessionKey]bool{}
	for _, c := range p.view.Changed {
		if !seen[c.SessionKey] {
			seen[c.SessionKey] = true
			chats = append(chats, fyne.NewMenuItem(p.chatName(c.SessionKey), func() { p.showChanges(c.SessionKey) }))
		}
		if chat != "" && c.SessionKey != chat {
			continue
		}
		item := widgets.ListItem{Icon: "edit", Title: state.VisibleName(p.relativePath(c.Path)), Text: p.chatName(c.SessionKey), Detail: state.When(c.At, p.list.now())}
		if c.New {
			item.Icon = "plus"
		}
		if c.Last {
			item.Text = "Last turn · " + item.Text
		}
		if c.Reverted {
			item.Icon, item.Text = "undo", "Reverted · "+item.Text
		}
		shown, items = append(shown, c), append(items, item)
	}
	list := widgets.NewItemList(func(i int) { p.showChange(shown[i]) })
	list.Set(items)
	which := widgets.NewButton("All chats", "chat", nil)
	if chat != "" {
		which.SetText(p.chatName(chat))
	}
	which.TrailingIcon = "down"
	which.OnTap = func() { widgets.ShowMenu(which, chats) }
	p.showInstead(widgets.NewPage("Changed by the agent", list, which, widgets.NewQuietButton("All files", "back", p.close)))
}

// relativePath returns an absolute path in the page's notation.
func (p *Page) relativePath(abs string) string {
	top := p.absolutePath("")
	if len(abs) > len(top)+1 && abs[:len(top)] == top {
		return abs[len(top)+1:]
	}
	return abs
}

// showChange shows one change, and offers to revert it.
func (p *Page) showChange(c protocol.FileChange) {
	body := container.NewStack(widgets.NewLoading())
	status := widgets.NewText("", style.ColorMuted, style.SizeSmall)
	revert := widgets.NewButton("Revert", "undo", nil)
	revert.Disable()
	back := widgets.NewQuietButton("All changes", "back", func() { p.showChanges("") })
	load := func() {
		bind.Go(p.ctx, func(ctx context.Context) (protocol.FilesDiffResult, error) { return p.model.Diff(ctx, c) }, func(d protocol.FilesDiffResult, err error) {
			var o fyne.CanvasObject
			switch {
			case err != nil:
				o = container.NewVBox(widgets.NewErrorBox(widgets.Problem{Title: "Could not show this change.", Advice: err.Error()}, nil))
			case d.Diff == "" && d.Why == "" && d.State == protocol.ChangeReverted: // see above
				o = container.NewVBox()
			case d.Diff == "":
				o = container.NewVBox(widgets.NewText(cmp.Or(d.Why, "The file has its earlier content."), style.ColorMuted, "text"))
			default:
				o = diff.NewPanel(d.Diff, 0)
			}
			body.Objects = []fyne.CanvasObject{o}
			body.Refresh()
			switch {
			case err != nil:
			case d.State == protocol.ChangeStands && c.Lost == "":
				status.Set(d.Why, style.ColorMuted)
				revert.Enable()
			case d.State == protocol.ChangeAltered:
				status.Set("The file changed after the agent edited it, so the edit cannot be reverted. "+d.Why, style.ColorNeedsYou)
			case d.State == protocol.ChangeReverted:
				status.Set("✓ Reverted.", style.ColorGood)
			}
		})
	}
	revert.OnTap = func() {
		revert.Disable()
		bind.Run(p.ctx, func(ctx context.Context) error { return p.model.Revert(ctx, c) }, func(err error) {
			if err != nil {
				p.showError("Could not revert the change", err)
			}
			load()
		})
	}
	status.Ellipsis = true
	p.showInstead(widgets.NewPage(path.Base(p.relativePath(c.Path)), widgets.Border(widgets.Inset(0, 0, style.Inside, 0, widgets.Col(style.Gap,
		widgets.NewText(p.relativePath(c.Path), style.ColorMuted, style.SizeSmall), status)), nil, nil, nil, widgets.Inset(0, 0, style.Group, 0, body)), revert, back))
	load()
}

// showInstead replaces the list by an object until it is closed.
func (p *Page) showInstead(o fyne.CanvasObject) {
	p.viewer = &viewer{page: p, path: "", box: o}
	p.replaceList("cover", o)
}
