package tools

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// importForm adds servers that other programs use.
type importForm struct {
	p       *Page
	body    *fyne.Container
	message message
	add     *widgets.Button
	found   []protocol.FoundServer
	checks  []*widgets.Check // of found
	draft   unsaved.Draft[[]string]
	left    []string // the servers that were chosen before; see [idOf]
}

func (p *Page) openImport() {
	draft, left := unsaved.Open(p.e.Drafts, "import servers", []string(nil))
	f := &importForm{p: p, body: container.NewStack(widgets.NewLoading()), message: newMessage(p), draft: draft, left: left}
	f.add = widgets.NewButton("Add", "check", f.submit)
	f.add.Primary = true
	f.add.Disable()
	p.openForm("Import servers", p.Leave, f.message, widgets.Row(style.Inside, -1, f.add, widgets.NewQuietButton("Cancel", "", draft.Discarding(p.Leave))),
		widgets.NewDraftLine(draft.IsRestored, draft.Discarding(p.openImport)),
		f.body)
	f.load()
}

// idOf names a server that another program uses.
func idOf(s protocol.FoundServer) string { return s.Path + "\n" + string(s.Name) }

func (f *importForm) load() {
	bind.Go(f.p.ctx, f.p.m.Find, func(groups []foundGroup, err error) {
		if err != nil {
			widgets.SetContent(f.body, widgets.NewLoadError("The servers of other programs could not be read.", feed.Sentence(err), f.load))
			f.p.Box.Refresh()
			return
		}
		f.show(groups)
	})
}

func (f *importForm) show(list []foundGroup) {
	f.found, f.checks = nil, nil
	text := "These servers are set up in other programs on the gateway's machine. Adding them changes nothing there."
	if len(list) == 0 {
		text = "Programs on the gateway's machine, such as Claude Code, VS Code and Cursor, have no servers to import."
	}
	groups := []fyne.CanvasObject{widgets.NewParagraph(text, style.ColorText, "text")}
	for _, g := range list {
		path := widgets.NewText(g.Path, style.ColorMuted, style.SizeSmall)
		path.Ellipsis = true
		rows := []fyne.CanvasObject{widgets.NewSectionHeading(strings.ToUpper(g.Source)), path}
		for _, s := range g.Servers {
			label := string(s.Name)
			if s.Exists {
				label += " – already added"
			}
			check := widgets.NewCheck(label, func(bool) {
				f.left = lists.Map(f.chosen(), idOf)
				if f.draft.Save(f.left); len(f.left) == 0 {
					f.draft.Drop()
				}
				f.count()
			}, foundRow(s, false))
			check.Box.Checked = !s.Exists && slices.Contains(f.left, idOf(s))
			if s.Exists {
				check.Disable()
			}
			f.found, f.checks, rows = append(f.found, s), append(f.checks, check), append(rows, check)
		}
		groups = append(groups, widgets.Col(style.Gap, rows...))
	}
	widgets.SetContent(f.body, widgets.Col(style.Group, groups...))
	f.count()
	f.p.LayOutText()
}

// count shows the number of chosen servers on the button.
func (f *importForm) count() {
	n := len(f.chosen())
	f.add.SetText(widgets.Choose(n == 0, "Add", "Add "+format.Plural(n, "server")))
	widgets.SetEnabled(f.add, n > 0)
	f.p.Box.Refresh()
}

func (f *importForm) chosen() (list []protocol.FoundServer) {
	for i, check := range f.checks {
		if check.Box.Checked {
			list = append(list, f.found[i])
		}
	}
	return uniqueFound(list)
}

func (f *importForm) submit() {
	f.add.Disable()
	f.p.addServers(f.chosen(), f.draft.Drop, func(err error) {
		f.message.say(feed.Sentence(err))
		f.load()
	})
}
