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

// appID is the program's identifier in the system.
const appID = "app.fairlead.desktop"

// runGUI opens the windows and blocks until the person quits. It must run on the main goroutine.
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
			// the goroutine ends with the process
			go func() { parentEnded(); bind.Do(ctx, s.quit) }()
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

// loadUI loads the theme and the first-run state once the gateway answers.
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

// followUI applies changes of theme and text size from another window or the command line.
func (s *shell) followUI() {
	s.uiTurn++
	turn := s.uiTurn
	bind.Go(s.ctx, func(ctx context.Context) (settings.UI, error) { return settings.ReadUI(ctx, s.b.state) }, func(ui settings.UI, err error) {
		if err == nil && turn == s.uiTurn { // responses may arrive out of order
			s.setTheme(style.Mode(ui.Theme), ui.TextSize)
			if ui.FirstRunDone { // completed in another client, such as the command line
				s.setFirstRun(false)
			}
		}
	})
}
