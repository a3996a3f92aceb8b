// Package app is the desktop program: it opens the windows and the tray icon, once for each data
// folder.
//
// The windows are clients of the gateway's protocol. Only run.go imports Fyne's driver. The type ui is
// the root of the user interface; what it is made of are packages that do not know it.
package app

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"fairlead/app/backend"
	"fairlead/app/failure"
	"fairlead/app/gateways"
	"fairlead/app/instance"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/system"
	"fairlead/gateway"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
)

// Main runs the program and returns its exit code: 0 success, 1 failure, 2 wrong usage. changelog
// is the text of CHANGELOG.md.
func Main(args []string, changelog string) int {
	f, version, err := parseFlags(args)
	f.changelog = changelog
	switch {
	case errors.Is(err, flag.ErrHelp):
		return system.Report(0, usage)
	case err != nil:
		return system.Report(2, "fairlead-desktop: invalid arguments\n\n"+usage)
	case version:
		return system.Report(0, gateway.VersionText()+"\n")
	}
	err = runInstance(f)
	home, homeErr := gateway.Home()
	switch {
	case err == nil:
		return 0
	case errors.As(err, new(*crash.Error)): // the toolkit runs once in a process
		fmt.Fprintf(os.Stderr, "fairlead-desktop: %v\n", err)
		return crashed
	case f.withParent || homeErr != nil: // the parent process has a window
		return system.Report(1, fmt.Sprintf("fairlead-desktop: %v\n", err))
	}
	fmt.Fprintf(os.Stderr, "fairlead-desktop: %v\n", err)
	a := newFyneApp()
	applyTheme(a, style.System, modeOf(system.WindowScheme()), style.TextNormal)
	return failure.Show(a, home, err)
}

// runInstance runs the program until the person quits, unless another instance already runs.
func runInstance(f flags) error {
	if f.home != "" {
		os.Setenv("FAIRLEAD_HOME", f.home) // the names of the keychain entries depend on it
	}
	home, err := gateway.Home()
	if err != nil {
		return err
	}
	if f.join != "" && !strings.Contains(f.join, "://") {
		peers := identity.OpenPeers(home, keychain.Open(home))
		peer, err := peers.Lookup(f.join)
		if err != nil {
			return err
		}
		if all, err := peers.List(); err == nil {
			peer.Name = gateways.DistinctName(all, peer)
		}
		// use one folder and one window, whichever way the gateway was named
		f.peer, f.join = &peer, string(peer.Pin)
	}
	own := preferences.Dir(home, f.join)
	if err := os.MkdirAll(own, 0o700); err != nil {
		return err
	}
	instance, first := instance.Claim(own, f.link)
	if !first {
		return nil // the running instance has shown its window
	}
	defer instance.Close()
	logs, err := gateway.OpenLog(own, "desktop.log")
	if err != nil {
		return err
	}
	defer logs.Close()
	if file, err := os.OpenFile(filepath.Join(gateway.LogDir(own), "crash.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
		debug.SetCrashOutput(file, debug.CrashOptions{})
		file.Close()
	}
	log := slog.New(slog.NewTextHandler(io.MultiWriter(logs, os.Stderr), nil))
	slog.SetDefault(log)
	b := backend.New(backend.Options{Home: home, Workspace: f.workspace, Listen: f.listen, Join: f.join, Peer: f.peer, Log: log})
	err = runGUI(f, b, instance)
	b.Prefs.Close()
	if err != nil && !f.reopened {
		instance.Close()
		err = reopenWindows(reopenArgs(f, home, b), time.Now)
	}
	b.Stop()
	return err
}
