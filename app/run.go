package app

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"

	"fyne.io/fyne/v2"
	fyneapp "fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/backend"
	"fairlead/app/bind"
	"fairlead/app/fonts"
	"fairlead/app/instance"
	_ "fairlead/app/locale" // before the toolkit
	"fairlead/app/memory"
	"fairlead/app/native"
	"fairlead/app/settings"
	"fairlead/app/style"
	"fairlead/app/system"
	"fairlead/gateway"
	"fairlead/gateway/peer/crash"
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
	u := newUI(ctx, a, b, platform{
		mode: own, showQuietly: native.ShowQuietly,
		about:     settings.About{Version: gateway.Version, Commit: gateway.Commit, Changes: settings.ChangesOf(f.changelog, gateway.Version)},
		isInFront: func(reported bool) bool { return native.IsInFront(a.Driver().AllWindows(), reported) },
	})
	u.run()
	if d, ok := a.(desktop.App); ok && !f.withParent && trayAvailable() {
		u.tray.open(ctx, d)
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
				u.main.Show()
				u.openLink(a.Link)
			}
		})
		u.openLink(f.link)
		if f.reopened {
			b.Feed.Notify("warning", "The windows had an internal error and were opened again. The agent's work went on. The log has more.")
		}
	})
	if f.reopened || !(f.hidden || last.Hidden) || !u.main.HasTray {
		u.main.Chat.Window.Show()
		u.main.Screen.Restore()
		u.pages.showNews()
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
