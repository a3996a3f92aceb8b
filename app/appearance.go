package app

import (
	"cmp"
	"context"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/native"
	"fairlead/app/notifications"
	"fairlead/app/notify"
	"fairlead/app/preferences"
	"fairlead/app/settings"
	"fairlead/app/style"
	"fairlead/app/system"
	"fairlead/app/window"
)

// applyTheme sets the appearance of all windows. own replaces [style.System].
func applyTheme(a fyne.App, mode, own style.Mode, scale float32) {
	if mode == style.System {
		mode = own
	}
	a.Settings().SetTheme(style.New(mode, scale))
	for _, w := range a.Driver().AllWindows() {
		native.SetBackground(w)
	}
}

// modeOf returns the mode of a colour scheme.
func modeOf(s system.Scheme) style.Mode {
	switch s {
	case system.Light:
		return style.Light
	case system.Dark:
		return style.Dark
	}
	return style.System
}

// uiSettings are the gateway's settings of the user interface: the appearance, the first run and the
// notifications.
type uiSettings struct {
	ctx    context.Context
	app    fyne.App
	feed   *feed.Feed
	prefs  *preferences.Store
	own    style.Mode // replaces [style.System]
	notes  *notifications.Notifications
	window *window.Window
	// hasFirstRun is whether the gateway is that of this computer, which alone has a first-run page.
	hasFirstRun bool

	newest   bind.Newest
	isLoaded bool // a request was answered
}

// load loads the settings; only the first response shows the first-run page.
func (s *uiSettings) load() {
	ctx := s.newest.Context(s.ctx)
	bind.Go(ctx, func(ctx context.Context) (settings.UI, error) { return settings.ReadUI(ctx, s.feed) }, func(saved settings.UI, err error) {
		if err != nil {
			return
		}
		s.setTheme(style.Mode(saved.Theme), saved.TextSize)
		if saved.FirstRunDone || !s.isLoaded {
			s.window.SetFirstRun(!saved.FirstRunDone && s.hasFirstRun)
		}
		s.isLoaded = true
	})
	bind.Go(ctx, func(ctx context.Context) (notify.Settings, error) {
		return feed.ConfigAt[notify.Settings](ctx, s.feed, "notifications")
	}, func(n notify.Settings, err error) {
		if err == nil { // an older gateway has none
			s.notes.Settings = n
		}
	})
}

// setTheme sets the appearance, and remembers it for the next start.
func (s *uiSettings) setTheme(mode style.Mode, scale float32) {
	last := s.prefs.Get()
	s.prefs.Update(func(r *preferences.Preferences) { r.Theme, r.TextSize = string(mode), scale })
	if cmp.Or(last.Theme, string(style.System)) != string(mode) || cmp.Or(last.TextSize, style.TextNormal) != scale {
		applyTheme(s.app, mode, s.own, scale)
	}
}
