package app

import (
	"context"
	"fmt"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/preferences"
	"fairlead/app/settings"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// firstPage is the page of the first start, with three ways to begin.
type firstPage struct {
	ui          *ui
	box         fyne.CanvasObject
	servers     *fyne.Container   // model servers found on this computer
	buttons     []*widgets.Button // buttons in servers
	searchAgain *widgets.Button
	getModel    *widgets.Button
	startButton *widgets.Button
	searching   bool
}

func newFirstPage(u *ui) *firstPage {
	p := &firstPage{ui: u, servers: widgets.Col(style.Inside)}
	choice := func(title, text string, rest fyne.CanvasObject) fyne.CanvasObject {
		return container.NewStack(widgets.NewRect(style.ColorSurface, style.ColorLine, style.Corner),
			widgets.Inset(style.Group, style.Group, style.Group, style.Group, widgets.Col(style.Inside,
				widgets.NewHeading(title, "text"), widgets.NewParagraph(text, style.ColorMuted, "text"), rest)))
	}
	p.searchAgain = widgets.NewButton("Search again", "reset", p.search)
	p.getModel = widgets.NewButton("Get a model for this computer", "machine", u.settings.openModels)
	p.startButton = widgets.NewButton("Start now", "play", func() { u.main.endFirstRun(); u.main.conversation.focusComposer() })
	p.startButton.Primary = true
	// These leave the page open, until the person has connected something.
	connect := widgets.NewButton("Connect a provider", "globe", u.settings.openModels)
	control := widgets.NewButton("Control it from here", "window", func() { u.settings.openJoin(false) })
	offer := widgets.NewButton("Let it use this computer", "machine", func() { u.settings.openJoin(true) })
	p.box = container.NewStack(widgets.NewRect("background", "", 0), widgets.NewVScroll(
		widgets.Inset(48, style.Page, style.Page, style.Page, widgets.LimitWidth(620, false, widgets.Col(style.Group,
			widgets.NewHeading("Welcome to Fairlead", style.SizeTitle),
			widgets.NewParagraph("An AI agent that works on your computers, with your approval: nothing is changed until you have seen and allowed it. How do you want to begin?", style.ColorText, "text"),
			choice("Use this computer", "Talk to the agent here. Until you connect a model, the built-in operator carries out simple requests, such as “run ls -la” or “read README.md”. It needs no key and no network.",
				widgets.Row(style.Inside, -1, p.startButton)),
			choice("Join my other computer", "If Fairlead already runs on another computer, control it from here, or let its agent use this computer. You can do both.",
				widgets.Flow(style.Inside, control, offer)),
			choice("Connect a model", "A hosted model of Anthropic, OpenAI, Google Gemini, OpenRouter or any compatible server. Paste a key; it is stored in this system's keychain or, without one, in a file that only you can read.",
				widgets.Col(style.Inside, widgets.Row(style.Inside, -1, connect),
					widgets.NewParagraph("A model on this computer: Fairlead finds Ollama, LM Studio and llama.cpp automatically.", style.ColorMuted, "text"), p.servers)),
		)))))
	p.showText("Searching for model servers…", style.ColorMuted)
	return p
}

// showText shows a sentence in place of the servers, with buttons below it.
func (p *firstPage) showText(text string, color fyne.ThemeColorName, acts ...*widgets.Button) {
	rows := []fyne.CanvasObject{widgets.NewParagraph(text, color, "text")}
	if len(acts) > 0 {
		row := widgets.Flow(style.Inside)
		for _, b := range acts {
			row.Add(b)
		}
		rows = append(rows, row)
	}
	p.setRows(rows, acts)
}

// setRows shows rows in place of the servers. A focused button passes the focus to the first.
func (p *firstPage) setRows(rows []fyne.CanvasObject, acts []*widgets.Button) {
	c := p.ui.main.conversation.window.Canvas()
	had := slices.ContainsFunc(p.buttons, func(b *widgets.Button) bool { return c.Focused() == fyne.Focusable(b) })
	p.servers.Objects, p.buttons = rows, acts
	p.box.Refresh()
	if had && len(acts) > 0 {
		c.Focus(acts[0])
	}
}

func (p *firstPage) search() {
	if p.searching {
		return
	}
	p.searching = true
	var acts []*widgets.Button
	if p.buttons != nil {
		acts = append(acts, p.searchAgain) // the button stays under the pointer
	}
	p.showText("Searching for model servers…", style.ColorMuted, acts...)
	bind.Go(p.ui.ctx, settings.Models{Feed: p.ui.backend.Feed}.Detect, p.show)
}

func (p *firstPage) show(list []protocol.DetectedServer, err error) {
	p.searching = false
	if err != nil {
		p.showText(feed.Sentence(err), style.ColorBad, p.searchAgain)
		return
	}
	if len(list) == 0 {
		p.showText("None of them is running.", style.ColorMuted, p.searchAgain, p.getModel)
		return
	}
	var rows []fyne.CanvasObject
	var acts []*widgets.Button
	for _, server := range list {
		use := widgets.NewButton("Use "+server.Name, "check", func() { p.useServer(server) })
		rows = append(rows, widgets.NewParagraph(serverText(server), style.ColorText, "text"), widgets.Row(style.Inside, -1, use))
		acts = append(acts, use)
	}
	rows, acts = append(rows, widgets.Row(style.Inside, -1, p.getModel)), append(acts, p.getModel)
	p.setRows(rows, acts)
}

func serverText(s protocol.DetectedServer) string {
	switch s.State {
	case "loading":
		return s.Name + " at " + s.BaseURL + " is loading its model"
	case "needs-key":
		return s.Name + " at " + s.BaseURL + " needs a key"
	}
	if len(s.Models) == 1 {
		return fmt.Sprintf("%s at %s, with %s", s.Name, s.BaseURL, s.Models[0].ID)
	}
	return fmt.Sprintf("%s at %s, %s", s.Name, s.BaseURL, wording.Plural(len(s.Models), "model", "models"))
}

func (p *firstPage) useServer(server protocol.DetectedServer) {
	if server.State == "needs-key" {
		p.ui.settings.openModels()
		return
	}
	bind.Go(p.ui.ctx, func(ctx context.Context) (protocol.ModelRef, error) {
		return settings.Models{Feed: p.ui.backend.Feed}.UseServer(ctx, server)
	}, func(ref protocol.ModelRef, err error) {
		if err != nil {
			p.showText(feed.Sentence(err), style.ColorBad, p.searchAgain)
			return
		}
		p.ui.main.endFirstRun()
		p.ui.messages.show("Now using " + ref.ID + ".")
		p.ui.main.conversation.focusComposer()
	})
}

func (w *window) setFirstRun(on bool) {
	if !on {
		w.ui.backend.Prefs.Update(func(r *preferences.Preferences) { r.FirstRunDone = true })
	}
	if w.firstRun == on {
		return
	}
	w.firstRun = on
	w.arrange()
	if on && w.ui.view().Status.Loaded {
		w.first.search()
	}
}

// endFirstRun stores that the first-run page is done.
func (w *window) endFirstRun() {
	if !w.firstRun {
		return
	}
	w.setFirstRun(false)
	bind.Run(w.ui.ctx, func(ctx context.Context) error {
		return feed.Set(ctx, w.ui.backend.Feed, "ui.firstRunDone", true)
	}, func(error) {}) // if this fails, the page is shown once more at the next start
}
