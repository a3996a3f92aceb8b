package app

import (
	"cmp"
	"context"
	"os"
	"time"

	fyneapp "fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/bind"
	"fairlead/app/memory"
	"fairlead/app/settings"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/tray"
)

// appID names the program to the system.
const appID = "app.fairlead.desktop"

// runGUI shows the windows and blocks until the person quits. It must run on the main goroutine.
func runGUI(f flags, b *backend, i *instance) {
	memory.Prepare()
	a := fyneapp.NewWithID(appID)
	a.SetIcon(style.AppIcon())
	last := b.prefs.get()
	a.Settings().SetTheme(style.New(style.Mode(cmp.Or(last.Theme, string(style.System))), last.TextSize))
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	s := newShell(ctx, a, b)
	s.showQuietly = showQuietly
	s.run()
	if d, ok := a.(desktop.App); ok && !f.withParent && trayAvailable() {
		t := tray.New(d, s.trayDo)
		s.hasTray = true
		show := func() { t.Show(state.TrayOf(b.state.Value.Get()).With(b.elsewhere.names.Get())) }
		show()
		bind.Watch(ctx, b.state.Value, func(state.View) { show() })
		bind.Watch(ctx, b.elsewhere.names, func([]state.GatewayLine) { show() })
	}
	a.Lifecycle().SetOnStarted(func() {
		b.start()
		if f.withParent {
			go func() { parentEnded(); bind.Do(ctx, s.quit) }() // it ends with the program
			b.wg.Go(func() {
				tellNeeds(os.Stdout, func(yield func(int) bool) {
					for v := range b.state.Value.Changes(ctx) {
						if !yield(len(v.Approvals)) {
							return
						}
					}
				})
			})
		} else if f.join == "" {
			b.wg.Go(func() {
				if err := b.elsewhere.start(b.early); err != nil {
					b.log.Warn("Not all other gateways could be read and told", "err", err)
				}
			})
		}
		bind.Watch(ctx, i.asked, func(a asked) {
			if a.times > 0 {
				s.show()
				s.openInvitation(a.link)
			}
		})
		s.openInvitation(f.link)
		s.loadUI()
	})
	if !(f.hidden || last.Hidden) || !s.hasTray {
		s.window.Show()
	}
	a.Lifecycle().SetOnEnteredForeground(func() { s.inFront(true) })
	a.Lifecycle().SetOnExitedForeground(func() {
		s.inFront(false)
		b.wg.Go(memory.Trim)
	})
	defer s.startNotes()()
	a.Run()
	s.remember()
}

// loadUI reads theme and first-run state once the gateway answers.
func (s *shell) loadUI() {
	bind.Go(s.ctx, func(ctx context.Context) (settings.UI, error) {
		for v := range s.b.state.Value.Changes(ctx) {
			if v.Loaded && v.Connected {
				break
			}
		}
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return settings.ReadUI(ctx, s.b.state)
	}, func(ui settings.UI, err error) {
		if err != nil {
			return
		}
		s.setTheme(style.Mode(ui.Theme), ui.TextSize)
		s.setFirstRun(!ui.FirstRunDone && s.b.f.join == "")
	})
}

// followUI takes over theme and text size that were changed in another window, or on the command line.
func (s *shell) followUI() {
	s.uiTurn++
	turn := s.uiTurn
	bind.Go(s.ctx, func(ctx context.Context) (settings.UI, error) { return settings.ReadUI(ctx, s.b.state) }, func(ui settings.UI, err error) {
		if err == nil && turn == s.uiTurn { // answers may come in another order than they were asked for
			s.setTheme(style.Mode(ui.Theme), ui.TextSize)
			if ui.FirstRunDone { // answered elsewhere, such as on the command line
				s.setFirstRun(false)
			}
		}
	})
}
