// Package welcome is the page of the first start, with three ways to begin.
package welcome

import (
	"context"
	"fmt"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Models finds and uses models of this computer. Its methods block.
type Models interface {
	Detect(context.Context) ([]protocol.DetectedServer, error)
	UseServer(context.Context, protocol.DetectedServer) (protocol.ModelRef, error)
}

// Page is the page of the first start.
type Page struct {
	Box fyne.CanvasObject

	ctx         context.Context
	host        host.Host
	models      Models
	begin       func()
	servers     *fyne.Container   // model servers found on this computer
	buttons     []*widgets.Button // buttons in servers
	searchAgain *widgets.Button
	getModel    *widgets.Button
	startButton *widgets.Button
	searching   bool
}

// New creates the page. Its work ends with ctx. begin leaves it for the chat, for good.
func New(ctx context.Context, h host.Host, m Models, begin func()) *Page {
	p := &Page{ctx: ctx, host: h, models: m, begin: begin, servers: widgets.Col(style.Inside)}
	choice := func(title, text string, rest fyne.CanvasObject) fyne.CanvasObject {
		return container.NewStack(widgets.NewRect(style.ColorSurface, style.ColorLine, style.Corner),
			widgets.Inset(style.Group, style.Group, style.Group, style.Group, widgets.Col(style.Inside,
				widgets.NewHeading(title, "text"), widgets.NewParagraph(text, style.ColorMuted, "text"), rest)))
	}
	p.searchAgain = widgets.NewButton("Search again", "reset", p.Search)
	p.getModel = widgets.NewButton("Get a model for this computer", "machine", p.openModels)
	p.startButton = widgets.NewButton("Start now", "play", begin)
	p.startButton.Primary = true
	// These leave the page open, until the person has connected something.
	connect := widgets.NewButton("Connect a provider", "globe", p.openModels)
	control := widgets.NewButton("Control it from here", "window", func() { h.Open(host.Join{}) })
	offer := widgets.NewButton("Let it use this computer", "machine", func() { h.Open(host.Join{AsMachine: true}) })
	p.Box = container.NewStack(widgets.NewRect("background", "", 0), widgets.NewVScroll(
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

// openModels shows where a model is connected.
func (p *Page) openModels() { p.host.Open(host.Page("Models")) }

// showText shows a sentence in place of the servers, with buttons below it.
func (p *Page) showText(text string, color fyne.ThemeColorName, acts ...*widgets.Button) {
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
func (p *Page) setRows(rows []fyne.CanvasObject, acts []*widgets.Button) {
	c := fyne.CurrentApp().Driver().CanvasForObject(p.Box)
	had := c != nil && slices.ContainsFunc(p.buttons, func(b *widgets.Button) bool { return c.Focused() == fyne.Focusable(b) })
	p.servers.Objects, p.buttons = rows, acts
	p.Box.Refresh()
	if had && len(acts) > 0 {
		c.Focus(acts[0])
	}
}

// Search searches for model servers of this computer.
func (p *Page) Search() {
	if p.searching {
		return
	}
	p.searching = true
	var acts []*widgets.Button
	if p.buttons != nil {
		acts = append(acts, p.searchAgain) // the button stays under the pointer
	}
	p.showText("Searching for model servers…", style.ColorMuted, acts...)
	bind.Go(p.ctx, p.models.Detect, p.show)
}

func (p *Page) show(list []protocol.DetectedServer, err error) {
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
	return fmt.Sprintf("%s at %s, %s", s.Name, s.BaseURL, format.Plural(len(s.Models), "model"))
}

func (p *Page) useServer(server protocol.DetectedServer) {
	if server.State == "needs-key" {
		p.openModels()
		return
	}
	bind.Go(p.ctx, func(ctx context.Context) (protocol.ModelRef, error) {
		return p.models.UseServer(ctx, server)
	}, func(ref protocol.ModelRef, err error) {
		if err != nil {
			p.showText(feed.Sentence(err), style.ColorBad, p.searchAgain)
			return
		}
		p.begin()
		p.host.Say("Now using " + ref.ID + ".")
	})
}
