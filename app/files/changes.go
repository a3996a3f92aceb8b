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
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

type changes struct{ page *Page }

// marks returns marks of the files that the agent changed in the last turn, and their folders.
func (l changes) marks() map[string]string {
	p := l.page
	last, above := map[string]bool{}, map[string]int{}
	for _, c := range p.view.Changed {
		if c.Last && !c.Reverted && !c.Altered {
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
		at := strings.ReplaceAll(p.view.AbsolutePath(p.e.Feed.Machines.Get(), e.Path), `\`, "/")
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

func (l changes) list(chat protocol.SessionKey) {
	p, chatName := l.page, l.page.e.Feed.View().ChatName
	var shown []protocol.FileChange
	var items []widgets.ListItem
	chats := []*fyne.MenuItem{fyne.NewMenuItem("All chats", func() { l.list("") })}
	seen := map[protocol.SessionKey]bool{}
	for _, c := range p.view.Changed {
		if !seen[c.SessionKey] {
			seen[c.SessionKey] = true
			chats = append(chats, fyne.NewMenuItem(chatName(c.SessionKey), func() { l.list(c.SessionKey) }))
		}
		if chat != "" && c.SessionKey != chat {
			continue
		}
		item := widgets.ListItem{Icon: "edit", Title: wording.VisibleName(l.relativePath(c.Path)), Text: chatName(c.SessionKey), Detail: format.When(c.At, p.list.now())}
		item.Full = wording.FullTime(c.At, p.list.now())
		if c.New {
			item.Icon = "plus"
		}
		if c.Last {
			item.Text = "Last turn · " + item.Text
		}
		if c.Altered {
			item.Text, item.Muted = "Changed again since · "+item.Text, true
		}
		if c.Reverted {
			item.Icon, item.Text = "undo", "Reverted · "+item.Text
		}
		shown, items = append(shown, c), append(items, item)
	}
	list := widgets.NewItemList(func(i int) { l.open(shown[i]) })
	list.Set(items)
	which := widgets.NewMenuButton("All chats", "chat", func() []*fyne.MenuItem { return chats })
	if chat != "" {
		which.SetText(chatName(chat))
	}
	l.show(widgets.NewPage("Changed by the agent", list, which, widgets.NewQuietButton("All files", "back", p.close)))
}

// relativePath returns an absolute path in the page's notation.
func (l changes) relativePath(abs string) string {
	top := l.page.view.AbsolutePath(l.page.e.Feed.Machines.Get(), "")
	if rest, ok := strings.CutPrefix(abs, top); ok && len(rest) > 1 {
		return rest[1:]
	}
	return abs
}

func (l changes) open(c protocol.FileChange) {
	p := l.page
	body := container.NewStack(widgets.NewLoading())
	status := widgets.NewText("", style.ColorMuted, style.SizeSmall)
	revert := widgets.NewButton("Revert", "undo", nil)
	revert.Disable()
	back := widgets.NewQuietButton("All changes", "back", func() { l.list("") })
	var load func()
	load = func() {
		bind.Go(p.ctx, func(ctx context.Context) (protocol.FilesDiffResult, error) { return p.model.Folder.Diff(ctx, c) }, func(d protocol.FilesDiffResult, err error) {
			var o fyne.CanvasObject
			switch {
			case err != nil:
				o = widgets.NewLoadError("Could not show this change.", err.Error(), load)
			case d.Diff == "" && d.Why == "" && d.State == protocol.ChangeReverted: // see above
				o = container.NewVBox()
			case d.Diff == "":
				o = container.NewVBox(widgets.NewParagraph(cmp.Or(d.Why, "The file has its earlier content."), style.ColorMuted, "text"))
			default:
				o = diff.NewPanel(d.Diff)
			}
			widgets.SetContent(body, o)
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
		bind.Run(p.ctx, func(ctx context.Context) error { return p.model.Folder.Revert(ctx, c) }, func(err error) {
			if err != nil {
				p.e.Say("Could not revert the change: " + err.Error())
			}
			load()
		})
	}
	status.Ellipsis = true
	where := widgets.NewText(l.relativePath(c.Path), style.ColorMuted, style.SizeSmall)
	where.Ellipsis = true
	file := widgets.NewButton("Open file", "file", func() { p.close(); p.model.Look(l.relativePath(c.Path)) })
	l.show(widgets.NewPage(path.Base(l.relativePath(c.Path)), widgets.Border(widgets.Inset(0, 0, style.Inside, 0, widgets.Col(style.Gap, where, status)), nil, nil, nil, widgets.Inset(0, 0, style.Group, 0, body)), revert, file, back))
	load()
}

// show replaces the list of the page by an object until it is closed.
func (l changes) show(o fyne.CanvasObject) {
	l.page.viewer = &viewer{page: l.page, box: o}
	l.page.replaceList("cover", o)
}
