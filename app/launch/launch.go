// Package launch lets the system start the program: when the person logs in, and for fairlead:// links, which invitations to pair are. It
// writes where each system wants it for one person alone, so it needs no rights of an administrator, and takes back all it wrote.
//
// Linux and the BSDs: the Desktop Application Autostart Specification and the Desktop Entry Specification. Windows: the Run and Classes keys of
// the person's registry. macOS: a launch agent; links belong to a bundle there, which says so itself.
package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Scheme is that of the links.
const Scheme = "fairlead"

// ErrNoLinks says that the system gives links only to programs that it installed itself.
var ErrNoLinks = errors.New("links are given to installed programs only on this system")

// Program is what is started.
type Program struct {
	Path  string   // absolute
	Login []string // arguments at login
	Args  []string // arguments otherwise; a link comes after them and "--", so that nothing in it is taken for an option
	Icon  []byte   // a PNG of 256 × 256
}

// This is the program that runs, for a data folder; empty is the system's.
func This(home string, icon []byte) (Program, error) {
	path, err := os.Executable()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return Program{}, fmt.Errorf("find this program: %w", err)
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
