//go:build linux || freebsd || openbsd || netbsd || dragonfly

package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// entry is the name of both desktop entries, and of the icon.
const entry = "fairlead"

func dir(variable, below string) (string, error) {
	if d := os.Getenv(variable); filepath.IsAbs(d) {
		return d, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the home folder: %w", err)
	}
	return filepath.Join(home, below), nil
}

func (p Program) loginFile() (string, error) {
	d, err := dir("XDG_CONFIG_HOME", ".config")
	return filepath.Join(d, "autostart", entry+".desktop"), err
}

func (p Program) linkFile() (string, error) {
	d, err := dir("XDG_DATA_HOME", filepath.Join(".local", "share"))
	return filepath.Join(d, "applications", entry+".desktop"), err
}

// AtLogin reports whether the system starts this copy of the program at login.
func (p Program) AtLogin() bool { return p.isRegistered(p.loginFile, p.Login) }

// SetAtLogin registers or unregisters the start at login.
func (p Program) SetAtLogin(on bool) error {
	return p.set(on, p.loginFile, p.Login, "X-GNOME-Autostart-enabled=true\n")
}

// SupportsLinks reports whether SetLinks is supported on this system.
const SupportsLinks = true

// Links reports whether links open this program.
func (p Program) Links() bool { return p.isRegistered(p.linkFile, append(p.Args, "--", link)) }

// SetLinks registers or unregisters the program for links, and as an application.
func (p Program) SetLinks(on bool) error {
	if err := p.set(on, p.linkFile, append(p.Args, "--", link), "MimeType=x-scheme-handler/"+Scheme+";\nCategories=Utility;\nStartupNotify=true\n"); err != nil {
		return err
	}
	file, err := p.linkFile()
	if err != nil {
		return err
	}
	// Both are optional: they only make it faster, and the default among several programs.
	run("update-desktop-database", filepath.Dir(file))
	if on {
		run("xdg-mime", "default", filepath.Base(file), "x-scheme-handler/"+Scheme)
	}
	return nil
}

func run(name string, args ...string) {
	if path, err := exec.LookPath(name); err == nil {
		exec.Command(path, args...).Run() //nolint:errcheck // see above
	}
}

func (p Program) isRegistered(where func() (string, error), args []string) bool {
	file, err := where()
	if err != nil {
		return false
	}
	data, err := os.ReadFile(file)
	return err == nil && strings.Contains(string(data), "\n"+p.line(args)+"\n") && !strings.Contains(string(data), "\nHidden=true\n")
}

func (p Program) set(on bool, where func() (string, error), args []string, more string) error {
	file, err := where()
	if err != nil {
		return err
	}
	if !on {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	icon, err := p.icon()
	if err != nil {
		return err
	}
	return write(file, []byte("[Desktop Entry]\nType=Application\nVersion=1.5\nName=Fairlead\nComment=An AI agent that works on your computers, with your approval\n"+
		p.line(args)+"\nIcon="+icon+"\nTerminal=false\n"+more))
}

// icon installs the icon and returns its name.
func (p Program) icon() (string, error) {
	d, err := dir("XDG_DATA_HOME", filepath.Join(".local", "share"))
	if err != nil {
		return "", err
	}
	return entry, write(filepath.Join(d, "icons", "hicolor", "256x256", "apps", entry+".png"), p.Icon)
}

func write(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// link is the placeholder for the link in an entry's Exec.
const link = "%u"

// line returns the Exec value of an entry, with quoted arguments as its specification requires.
func (p Program) line(args []string) string {
	quoted := []string{quote(p.Path)}
	for _, a := range args {
		if a != link {
			a = quote(a)
		}
		quoted = append(quoted, a)
	}
	// In a string of the desktop entry format \\ is one backslash.
	return "Exec=" + strings.ReplaceAll(strings.Join(quoted, " "), `\`, `\\`)
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", "$", `\$`, "%", "%%").Replace(s) + `"`
}
