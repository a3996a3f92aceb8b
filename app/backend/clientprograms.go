package backend

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"fairlead/app/apps"
	"fairlead/app/widgets"
	"fairlead/gateway"
	"fairlead/gateway/clients"
)

// ClientPrograms connects programs of this computer to its own gateway. It returns nil if this window
// shows another one, or if the program fairlead, which the clients start, is missing.
func (b *Backend) ClientPrograms() *apps.ClientPrograms {
	command := commandLine()
	if b.opts.Join != "" || command == "" {
		return nil
	}
	url := ""
	if listen := cmp.Or(b.opts.Listen, b.Prefs.Get().Listen, gateway.DefaultListen); listen != gateway.DefaultListen {
		url = "ws://" + listen + "/ws"
	}
	return &apps.ClientPrograms{
		Feed: b.Feed, Home: b.opts.Home, Command: command,
		Find: func() ([]clients.Client, error) {
			home, err := os.UserHomeDir()
			if err != nil {
				return nil, err
			}
			config, err := os.UserConfigDir()
			return clients.All(home, config), err
		},
		Argument: func(c clients.Client) []string { return c.Arguments(url, os.Getenv("FAIRLEAD_HOME")) },
	}
}

// commandLine returns the path of the program fairlead: the one beside this program, or the one on
// the PATH; empty if it is missing.
func commandLine() string {
	name := widgets.Choose(runtime.GOOS == "windows", "fairlead.exe", "fairlead")
	if this, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(this), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return path
}
