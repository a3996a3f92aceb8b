package tools

import (
	"context"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// addForm adds the servers of a pasted text.
type addForm struct {
	p       *Page
	text    *widgets.TextArea
	preview *fyne.Container
	name    *widgets.Entry // of a single server
	taken   message        // says that another server has this name
	run     *runner
	where   fyne.CanvasObject // the choice of the machine
	network *widgets.Select   // of a single server
	access  fyne.CanvasObject // the choice of the network
	message message
	add     *widgets.Button
	found   []protocol.FoundServer
	newest  bind.Newest // the request for a preview

	draft unsaved.Draft[addDraft]
	left  addDraft // the restored draft, until its first preview
}

// addDraft is the content of a form. The choices about a single server are empty without one.
type addDraft struct {
	text, name, network string
	node                protocol.NodeID
}

// Create opens the form of a new server.
func (p *Page) Create() *addForm {
	draft, left := unsaved.Open(p.e.Drafts, "add a server", addDraft{})
	f := &addForm{p: p, preview: container.NewStack(), name: widgets.NewEntry(), taken: newMessage(p), run: newRunner(p.view, left.node), message: newMessage(p), draft: draft, left: left}
	f.text = widgets.NewTextArea(7, "npx -y @modelcontextprotocol/server-memory\nhttps://mcp.example.org/mcp\n{\"mcpServers\": {…}}")
	f.text.TextStyle.Monospace = true
	f.text.SetText(left.text)
	f.text.OnChanged = func(text string) {
		f.left = addDraft{}
		f.saveDraft()
		f.read(text)
	}
	f.name.OnChanged = func(string) {
		f.saveDraft()
		f.checkName()
	}
	f.run.OnChanged = func(string) { f.saveDraft() }
	f.name.OnSubmitted = func(string) { f.submit() }
	f.add = widgets.NewButton("Add", "check", f.submit)
	f.add.Primary = true
	f.where = widgets.NewField("Runs on", widgets.LimitWidth(320, true, f.run.Select))
	f.where.Hide()
	f.network = newNetwork("")
	f.network.OnChanged = f.run.OnChanged
	f.access = widgets.NewField("May use the network", widgets.LimitWidth(320, true, f.network))
	f.access.Hide()
	f.show("")
	p.openForm("Add a server", p.Leave, f.message, widgets.Row(style.Inside, -1, f.add, widgets.NewQuietButton("Cancel", "", draft.Discarding(p.Leave))),
		widgets.NewDraftLine(draft.IsRestored, draft.Discarding(func() { p.Create() })),
		widgets.NewParagraph("Paste what the server's page tells you to use: a JSON snippet, a command or an address.", style.ColorText, "text"),
		f.text, f.preview, f.where, f.access,
		widgets.NewParagraph("A server that runs as a command can do what the machine's sandbox allows. Add only servers that you trust.", style.ColorMuted, style.SizeSmall))
	widgets.FocusIn(p.Box, f.text)
	if draft.IsRestored {
		f.read(left.text)
	}
	return f
}

// saveDraft saves the text with the choices about its server.
func (f *addForm) saveDraft() {
	now := addDraft{text: f.text.Text}
	if len(f.found) == 1 && now.text != "" {
		now = addDraft{now.text, f.name.Text, networkOf(f.network), f.run.node()}
	}
	f.draft.Save(now)
}

// read requests the preview of a text.
func (f *addForm) read(text string) {
	ctx := f.newest.Context(f.p.ctx)
	f.message.say("")
	if strings.TrimSpace(text) == "" {
		f.found = nil
		f.show("")
		return
	}
	bind.Go(ctx, func(ctx context.Context) ([]protocol.FoundServer, error) { return f.p.m.Parse(ctx, text) },
		func(found []protocol.FoundServer, err error) {
			f.found = found
			if f.left.name != "" && len(found) == 1 {
				f.found[0].Name, f.found[0].Spec.Network = protocol.ServerName(f.left.name), f.left.network
			}
			if err != nil {
				f.show(feed.Sentence(err))
				return
			}
			f.show("")
		})
}

// show shows the preview, or a problem of the text.
func (f *addForm) show(problem string) {
	var rows []fyne.CanvasObject
	runs := false
	switch {
	case problem != "":
		rows = append(rows, widgets.NewParagraph(problem, style.ColorNeedsYou, "text"))
	case len(f.found) == 1:
		f.name.SetText(string(f.found[0].Name))
		rows = append(rows, widgets.NewSectionHeading("WILL BE ADDED"), widgets.NewField("Name", widgets.LimitWidth(320, true, f.name), f.taken.Paragraph))
	case len(f.found) > 1:
		rows = append(rows, widgets.NewSectionHeading("WILL BE ADDED"))
	}
	for _, s := range f.found {
		rows = append(rows, foundRow(s, len(f.found) > 1))
		runs = runs || s.Spec.Command != ""
	}
	f.add.SetText(widgets.Choose(len(f.found) > 1, fmt.Sprintf("Add %d servers", len(f.found)), "Add"))
	widgets.SetVisible(f.where, runs)
	if len(f.found) == 1 {
		f.network.SetSelectedIndex(networkIndex(f.found[0].Spec.Network))
	}
	widgets.SetVisible(f.access, runs && len(f.found) == 1)
	widgets.SetContent(f.preview, widgets.Col(style.Inside, rows...))
	widgets.SetVisible(f.preview, len(rows) > 0)
	f.checkName()
}

// checkName says whether another server has the name of a single server, and enables the button.
func (f *addForm) checkName() {
	text := ""
	if len(f.found) == 1 {
		if s, ok := f.p.view.Servers.Server(protocol.ServerName(strings.TrimSpace(f.name.Text))); ok {
			text = existsText(s.Name) + " Choose another name."
		}
	}
	widgets.SetEnabled(f.add, len(f.found) > 0 && text == "")
	f.taken.say(text)
}

// foundRow describes a server that can be added.
func foundRow(s protocol.FoundServer, withName bool) fyne.CanvasObject {
	text, more := foundText(s)
	text, _ = wording.Reveal(text)
	line := widgets.NewParagraph(text, style.ColorText, style.SizeSmall)
	line.SetStyle(fyne.TextStyle{Monospace: true})
	rows := []fyne.CanvasObject{line}
	if more, _ = wording.Reveal(more); more != "" {
		rows = append(rows, widgets.NewParagraph(more, style.ColorMuted, style.SizeSmall))
	}
	if withName {
		rows = append([]fyne.CanvasObject{widgets.NewParagraph(string(s.Name), style.ColorText, "text")}, rows...)
	}
	if s.Exists && withName {
		rows = append(rows, widgets.NewParagraph(existsText(s.Name), style.ColorNeedsYou, style.SizeSmall))
	}
	return widgets.Col(2, rows...)
}

func (f *addForm) submit() {
	list := serversToAdd(f.p.view, f.found, f.name.Text, f.run.node(), networkOf(f.network))
	if len(list) == 0 {
		f.message.say("Nothing is left to add: choose another name.")
		return
	}
	f.add.Disable()
	f.p.addServers(list, f.draft.Drop, func(err error) {
		f.add.Enable()
		f.message.say(feed.Sentence(err))
	})
}

// addServers adds servers and shows the list. It calls added, which may not use widgets, also when the
// person has left the form. failed gets the error.
func (p *Page) addServers(list []protocol.FoundServer, added func(), failed func(error)) {
	bind.Go(p.ctx, func(ctx context.Context) (int, error) {
		n, err := p.m.Add(context.WithoutCancel(ctx), list)
		if err == nil {
			added()
		}
		return n, err
	}, func(n int, err error) {
		p.m.Load()
		if err != nil {
			failed(err)
			return
		}
		p.Leave()
		if n == 1 {
			p.e.Say("“" + string(list[0].Name) + "” was added.")
			return
		}
		p.e.Say(fmt.Sprintf("%d servers were added.", n))
	})
}
