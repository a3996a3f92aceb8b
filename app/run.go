package app

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"fyne.io/fyne/v2"
	fyneapp "fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/backend"
	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/fonts"
	"fairlead/app/gateways"
	"fairlead/app/inbox"
	"fairlead/app/instance"
	_ "fairlead/app/locale" // before the toolkit
	"fairlead/app/memory"
	"fairlead/app/native"
	"fairlead/app/settings"
	"fairlead/app/style"
	"fairlead/app/system"
	"fairlead/gateway"
	"fairlead/gateway/peer/crash"
	"fairlead/tray"
)

// appID is the program's identifier in the system.
const appID = "app.fairlead.desktop"

// newFyneApp starts the toolkit.
func newFyneApp() fyne.App {
	if cache, err := os.UserCacheDir(); err == nil { // the toolkit does not create missing parents
		os.MkdirAll(filepath.Join(cache, "fyne", appID), 0o700) //nolint:errcheck // the toolkit logs that it has no cache
	}
	fyneapp.SetMetadata(fyne.AppMetadata{ID: appID, Name: "Fairlead", Version: gateway.Version})
	a := fyneapp.NewWithID(appID)
	a.SetIcon(style.AppIcon())
	return a
}

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

// gcPercent makes the garbage collector run twice as often as by default. Most of the windows' memory
// lives long, so that this costs little time; in use, it saves 30 MB.
const gcPercent = 50

// runGUI opens the windows and blocks until the person quits. It must run on the main goroutine. A
// panic of the toolkit's loop ends it with an error: the windows are gone, and a process opens
// windows only once.
func runGUI(f flags, b *backend.Backend, i *instance.Instance) error {
	debug.SetGCPercent(gcPercent)
	memory.Retain()
	a := newFyneApp()
	last := b.Prefs.Get()
	ctx, cancel := context.WithCancel(bind.Together(b.Context()))
	defer cancel()
	own := modeOf(system.WindowScheme())
	applyTheme(a, style.Mode(cmp.Or(last.Theme, string(style.System))), own, last.TextSize)
	fonts.Share(func(share func()) { bind.Do(ctx, share) })
	u := newUI(ctx, a, b)
	u.systemMode = own
	u.settings.about = settings.About{Version: gateway.Version, Commit: gateway.Commit, Changes: settings.ChangesOf(f.changelog, gateway.Version)}
	u.showQuietly = native.ShowQuietly
	u.isInFront = func() bool { return native.IsInFront(a.Driver().AllWindows(), u.hasFocus) }
	u.run()
	if d, ok := a.(desktop.App); ok && !f.withParent && trayAvailable() {
		u.openTray(ctx, d, b)
	}
	a.Lifecycle().SetOnStarted(func() {
		native.Rest(ctx)
		b.Start()
		if f.withParent {
			crash.Go(func() { // it ends with the process
				io.Copy(io.Discard, os.Stdin) //nolint:errcheck // the parent process has ended or closed the pipe
				bind.Do(ctx, u.Quit)
			})
			b.WriteCounts(os.Stdout)
		} else if !b.IsRemote() {
			b.StartGateways()
		}
		bind.Watch(ctx, i.Requests, func(a instance.Requests) {
			if a.Count > 0 {
				u.main.show()
				u.settings.openLink(a.Link)
			}
		})
		u.settings.openLink(f.link)
		if f.reopened {
			b.Feed.Notify("warning", "The windows had an internal error and were opened again. The agent's work went on. The log has more.")
		}
	})
	if f.reopened || !(f.hidden || last.Hidden) || !u.hasTray {
		u.main.conversation.Window.Show()
		u.main.place.Restore(u.main.conversation.Window)
		u.settings.showNews()
	}
	a.Lifecycle().SetOnEnteredForeground(func() { u.setFocused(true) })
	a.Lifecycle().SetOnExitedForeground(func() { u.setFocused(false) })
	defer u.notes.Start(slog.Default())()
	if err := crash.Run("window", a.Run); err != nil {
		cancel()
		removeWindows(a)
		return err
	}
	u.saveDrafts()
	return nil
}

// removeWindows removes the windows and the tray icon after the toolkit's loop has failed.
func removeWindows(a fyne.App) {
	crash.Run("window", a.Quit) // removes the tray icon
	native.Terminate()
}

// trayOf returns the content of the tray for a view.
func trayOf(v feed.View, now time.Time) tray.Content { return tray.ContentOf(v, inbox.Words(v, now)) }

// openTray shows the icon in the system's tray until ctx ends.
func (u *ui) openTray(ctx context.Context, d desktop.App, b *backend.Backend) {
	w := u.main.conversation.Window
	t := tray.New(ctx, d, modeOf(system.PanelScheme()), u.runTrayItem)
	t.Start(ctx, w)
	w.SetCloseIntercept(u.main.close)
	u.hasTray = true
	show := func() { t.Show(trayOf(b.Feed.View(), time.Now()).With(b.Gateways.Lines.Get())) }
	f := b.Feed
	facts := f.Watch(f.Status, f.Sessions, f.Runs, f.Questions, f.Machines, f.Transfers)
	bind.Watch(ctx, facts, func(feed.View) { show() })
	bind.Watch(ctx, b.Gateways.Lines, func([]gateways.Line) { show() })
}
