// Package launch registers the program with the operating system, for this user only: to start at
// login, and to open fairlead:// links (pairing invitations).
//
// Linux and the BSDs: the Desktop Application Autostart and Desktop Entry Specifications. Windows:
// the Run and Classes keys of the registry. macOS: a launch agent; links need an application bundle.
package launch

import (
	"fmt"
	"os"
	"path/filepath"
)

// Scheme is the URL scheme of the links.
const Scheme = "fairlead"

// Program is the command line to register.
type Program struct {
	Path  string   // absolute path
	Login []string // arguments at login
	// arguments otherwise; a link follows them after "--", so that it cannot be parsed as an option
	Args []string
	Icon []byte // a PNG of 256 × 256 pixels
}

// This returns the running program with a data folder; empty is the default folder.
func This(home string, icon []byte) (Program, error) {
	path, err := os.Executable()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return Program{}, fmt.Errorf("finding this program: %w", err)
	}
	p := Program{Path: path, Icon: icon}
	if home != "" {
		if home, err = filepath.Abs(home); err != nil {
			return Program{}, err
		}
		p.Args = []string{"--home", home}
	}
	p.Login = append(p.Args, "--hidden")
	return p, nil
}
