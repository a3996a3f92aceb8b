package launch

import (
	"errors"
	"fmt"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

const (
	runKey   = `Software\Microsoft\Windows\CurrentVersion\Run`
	classKey = `Software\Classes\` + Scheme
	openKey  = classKey + `\shell\open\command`
	runName  = "Fairlead"
)

// link is the placeholder for the link in a command of the registry.
const link = "%1"

// AtLogin reports whether the system starts this copy of the program at login.
func (p Program) AtLogin() bool { return value(runKey, runName) == p.line(p.Login) }

// SetAtLogin registers or unregisters the start at login.
func (p Program) SetAtLogin(on bool) error {
	if on {
		return setValue(runKey, runName, p.line(p.Login))
	}
	k, err := registry.OpenKey(registry.CURRENT_USER, runKey, registry.SET_VALUE)
	if err != nil {
		return ignoreNotExist(err)
	}
	defer k.Close()
	return ignoreNotExist(k.DeleteValue(runName))
}

// SupportsLinks reports whether SetLinks is supported on this system.
const SupportsLinks = true

// Links reports whether links open this program.
func (p Program) Links() bool { return value(openKey, "") == p.linkCommand() }

// SetLinks registers or unregisters the program for links.
func (p Program) SetLinks(on bool) error {
	if on {
		return errors.Join(setValue(classKey, "", "URL:Fairlead"), setValue(classKey, "URL Protocol", ""), setValue(openKey, "", p.linkCommand()))
	}
	for _, key := range []string{openKey, classKey + `\shell\open`, classKey + `\shell`, classKey} {
		if err := ignoreNotExist(registry.DeleteKey(registry.CURRENT_USER, key)); err != nil {
			return fmt.Errorf("removing %s: %w", key, err)
		}
	}
	return nil
}

func (p Program) line(args []string) string {
	return windows.ComposeCommandLine(append([]string{p.Path}, args...))
}

// linkCommand always quotes the link, so that its content cannot add arguments.
func (p Program) linkCommand() string { return p.line(append(p.Args, "--")) + ` "` + link + `"` }

func value(key, name string) string {
	k, err := registry.OpenKey(registry.CURRENT_USER, key, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer k.Close()
	s, _, err := k.GetStringValue(name)
	if err != nil {
		return ""
	}
	return s
}

func setValue(key, name, s string) error {
	k, _, err := registry.CreateKey(registry.CURRENT_USER, key, registry.SET_VALUE)
	if err != nil {
		return fmt.Errorf("opening %s: %w", key, err)
	}
	defer k.Close()
	return k.SetStringValue(name, s)
}

func ignoreNotExist(err error) error {
	if errors.Is(err, registry.ErrNotExist) {
		return nil
	}
	return err
}
