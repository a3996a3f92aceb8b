package app

import (
	"context"
	"time"

	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/backend"
	"fairlead/app/bind"
	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/gateways"
	"fairlead/app/host"
	"fairlead/app/system"
	"fairlead/app/window"
	"fairlead/tray"
)

// trayMenu does what the person chooses in the menu of the tray icon.
type trayMenu struct {
	host    host.Host
	window  *window.Window
	backend *backend.Backend
	quit    func()
}

// run does what an item says.
func (m trayMenu) run(i tray.Item) {
	switch i.Do {
	case tray.ActionOpen:
		m.window.Show()
	case tray.ActionNew:
		m.window.Show()
		m.window.Chats.Actions.Create()
	case tray.ActionChat:
		m.window.Show()
		m.window.Open(i.Key)
	case tray.ActionReview:
		m.host.Open(host.Question(i.Question))
	case tray.ActionNeeds:
		m.host.Open(host.Question(""))
	case tray.ActionMode:
		m.backend.Chats.SetMode(i.Key, chats.ModeChoices[i.Mode])
	case tray.ActionPause:
		m.backend.Feed.Pause(!m.backend.Feed.View().Status.Paused)
	case tray.ActionTransfers:
		m.host.Open(host.Transfers)
	case tray.ActionMachine:
		m.host.Open(host.Machine(i.Node))
	case tray.ActionGateway:
		if err := m.backend.Gateways.Open(i.Gateway); err != nil {
			m.window.Show()
			m.host.Say("The window could not be opened: " + err.Error())
		}
	case tray.ActionExposure:
		m.host.Open(host.Exposure)
	case tray.ActionSettings:
		m.host.Open(host.Settings)
	case tray.ActionQuit:
		m.quit()
	}
}

// open shows the icon in the system's tray until ctx ends.
func (m trayMenu) open(ctx context.Context, d desktop.App) {
	b := m.backend
	t := tray.New(ctx, d, modeOf(system.PanelScheme()), m.run)
	w := m.window.Chat.Window
	t.Start(ctx, w)
	w.SetCloseIntercept(m.window.Close) // the toolkit has set its own
	m.window.HasTray = true
	show := func() { t.Show(tray.ContentOf(b.Feed.View(), time.Now()).With(b.Gateways.Lines.Get())) }
	f := b.Feed
	facts := f.Watch(f.Status, f.Sessions, f.Runs, f.Questions, f.Machines, f.Transfers, f.Exposures)
	bind.Watch(ctx, facts, func(feed.View) { show() })
	bind.Watch(ctx, b.Gateways.Lines, func([]gateways.Line) { show() })
}
