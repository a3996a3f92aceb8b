package tools

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/code"
	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// detail is the page of one server: its state, its settings, its tools and its log.
type detail struct {
	p       *Page
	name    protocol.ServerName
	bar     widgets.Actions
	problem widgets.Body
	facts   widgets.Body
	tools   *toolList
	log     *code.Panel
	lines   []string  // of the log
	logAt   time.Time // when the log was requested last
}

// logInterval is the time between two requests of the log.
const logInterval = 3 * time.Second

// logHeight is the height from which the log scrolls.
const logHeight = 280

func newDetail(p *Page, name protocol.ServerName) *detail {
	d := &detail{p: p, name: name, problem: widgets.NewBody(), facts: widgets.NewBody(), log: code.NewPanel(logHeight)}
	d.log.SetWrap(true)
	d.bar = widgets.NewActions(d.show)
	d.tools = newToolList(d)
	return d
}

// show redraws changed parts; if the server was removed, it shows the list.
func (d *detail) show() {
	p := d.p
	s, ok := p.view.Servers.Server(d.name)
	if !ok {
		if p.view.Servers.Loaded {
			p.Leave()
		}
		return
	}
	drawn := p.Draw("server "+string(d.name), func() fyne.CanvasObject {
		copyLog := widgets.NewQuietButton("Copy", "copy", func() {
			p.e.Copy(strings.Join(d.lines, "\n"))
			p.e.Say("The log was copied.")
		})
		form := widgets.NewForm(widgets.Inset(style.Gap, 0, 0, 0, d.bar.Box), d.problem.Box, d.facts.Box, d.tools.Box,
			widgets.NewSectionHeading("LOG", copyLog), d.log)
		d.log.SetForward(form.Scrolled)
		return widgets.NewPage(string(d.name), form, widgets.NewQuietButton("All servers", "back", p.Leave))
	})
	drawn = d.bar.DrawActions(fmt.Sprint(s.State, s.Spec.Disabled), func() fyne.CanvasObject { return d.actions(s) }) || drawn
	what, next := explanation(p.view, s)
	drawn = d.problem.Draw(what+next, func() fyne.CanvasObject { return d.explain(s, what, next) }) || drawn
	facts := factsOf(p.view, s, p.now())
	drawn = d.facts.Draw(fmt.Sprint(facts), func() fyne.CanvasObject { return widgets.NewFacts(facts) }) || drawn
	drawn = d.tools.show(s) || drawn
	widgets.SetVisible(d.problem.Box, what != "")
	// The log of a server that failed says why, and is not below a long list.
	widgets.SetVisible(d.tools.Box, s.State == protocol.ServerReady || len(s.Tools) > 0 && s.State != protocol.ServerFailed)
	if drawn {
		p.LayOutText()
	}
	if p.now().Sub(d.logAt) >= logInterval {
		d.loadLog()
	}
}

// back cancels the question whether to remove the server, and reports whether it was asked.
func (d *detail) back() bool {
	if d.bar.Confirming == "" {
		return false
	}
	d.bar.Confirm("")
	return true
}

// explain says why a server that is not ready is not, with a button that helps.
func (d *detail) explain(s protocol.ServerStatus, what, next string) fyne.CanvasObject {
	problem, do := widgets.Problem{Title: what, Advice: next, IsInfo: s.State != protocol.ServerFailed}, d.restart
	switch s.State {
	case protocol.ServerReady:
		return widgets.Col(0)
	case protocol.ServerFailed:
		problem.Button = "Try again"
	case protocol.ServerSignIn:
		problem.Button, do = "Sign in…", d.signIn
	case protocol.ServerDisabled:
		problem.Button, do = "Turn on", func() { d.setOn(s, true) }
	}
	return widgets.NewErrorBox(problem, do)
}

func (d *detail) actions(s protocol.ServerStatus) fyne.CanvasObject {
	var buttons []fyne.CanvasObject
	if !s.Spec.Disabled {
		buttons = append(buttons, widgets.NewButton("Restart", "reset", d.restart), widgets.NewButton("Turn off", "pause", func() { d.setOn(s, false) }))
	}
	buttons = append(buttons, widgets.NewButton("Settings…", "edit", func() {
		if s, ok := d.p.view.Servers.Server(d.name); ok {
			d.p.openSettings(s)
		}
	}))
	ask := widgets.Confirmation{Text: "Remove", Icon: "trash", Question: "Remove “" + string(d.name) + "” with its settings?", Yes: "Remove", No: "Cancel"}
	return widgets.Flow(style.Inside, append(buttons, d.bar.ConfirmButton(ask, d.remove))...)
}

// do performs an action on the server. what begins the message about an error.
func (d *detail) do(what string, action func(context.Context) error) {
	bind.Run(d.p.ctx, action, func(err error) {
		d.bar.Confirming = ""
		d.p.e.Failed(what, err)
		d.p.m.Load()
		d.p.Update()
	})
}

func (d *detail) setOn(s protocol.ServerStatus, on bool) {
	d.do("The server was not changed", func(ctx context.Context) error { return d.p.m.SetOn(ctx, s, on) })
}

func (d *detail) restart() {
	d.do("The server was not restarted", func(ctx context.Context) error { return d.p.m.Restart(ctx, d.name) })
}

func (d *detail) remove() {
	d.do("The server was not removed", func(ctx context.Context) error { return d.p.m.Remove(ctx, d.name) })
}

func (d *detail) signIn() {
	p := d.p
	bind.Go(p.ctx, func(ctx context.Context) (string, error) { return p.m.SignIn(ctx, d.name) }, func(url string, err error) {
		if !p.e.Failed("You could not be signed in", err) {
			p.e.Open(host.URL(url))
		}
	})
}

// loadLog requests the log and shows it.
func (d *detail) loadLog() {
	p := d.p
	d.logAt = p.now()
	bind.Go(p.ctx, func(ctx context.Context) ([]string, error) { return p.m.Logs(ctx, d.name) }, func(lines []string, err error) {
		if err == nil && p.detail == d {
			d.setLog(lines)
		}
	})
}

// setLog shows the lines of the log, newest last. Equal lines change nothing.
func (d *detail) setLog(lines []string) {
	if slices.Equal(lines, d.lines) && d.lines != nil {
		return
	}
	d.lines = lines
	text := "Nothing was logged yet."
	if len(lines) > 0 {
		text = strings.Join(lines, "\n")
	}
	d.log.SetText(text)
	d.p.Box.Refresh()
	d.log.Scroller.MoveTo(fyne.NewPos(0, math.MaxInt16)) // to the end
}
