package sandbox

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"fairlead/node/sandbox/confine"
	"fairlead/node/workspace"
)

// seatbelt is the input of macOS' sandbox-exec: a profile that denies everything it does not name,
// and its parameters, because paths must not be inserted into the text.
type seatbelt struct {
	text   strings.Builder
	params []string
}

// seatbeltRules are the restrictions of a command with the settings of the node. All paths are real,
// because the system compares link targets.
type seatbeltRules struct {
	confine.Restrictions
	// Secrets cannot be read or written, except for Readable and what is Writable by name.
	Secrets []string
	TTY     string
}

// seatbeltBase is needed by nearly every program: starting and signalling processes, reading system
// information, user names, its own terminals.
const seatbeltBase = `(version 1)
(deny default)
(allow process-exec process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.logd")
  (global-name "com.apple.bsd.dirhelper"))
(allow ipc-posix-sem)
(allow user-preference-read)
(allow file-read*)
(allow file-write-data file-ioctl
  (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper"))
`

// seatbeltArgs returns the arguments that run argv contained. The last matching rule decides, so
// the order is: write, hide, grant, deny. path are the folders of programs.
func seatbeltArgs(f seatbeltRules, path, argv []string) []string {
	var s seatbelt
	s.text.WriteString(seatbeltBase)
	if f.TTY != "" {
		s.rule("allow file-read* file-write* file-ioctl", "literal", f.TTY)
	}
	for _, p := range f.Writable {
		s.rule("allow file-write*", "subpath", p)
	}
	for _, p := range f.Secrets {
		s.deny("file-read* file-write*", p, f.Writable)
	}
	for _, p := range f.Readable {
		s.rule("allow file-read*", "subpath", p)
	}
	for _, p := range f.Writable {
		// A workspace in a hidden folder was granted by name; hidden paths inside it were not.
		if slices.ContainsFunc(f.Secrets, func(h string) bool { return workspace.InFolder(p, h) }) {
			s.rule("allow file-read* file-write*", "subpath", p)
		}
	}
	for _, p := range f.ReadOnly {
		s.deny("file-write*", p, f.Writable)
	}
	for _, p := range f.Hidden {
		s.deny("file-read* file-write*", p, f.Writable)
	}
	for _, p := range deniedPaths(f.Programs, path) {
		s.rule("deny process-exec", "literal", p)
	}
	if f.Network {
		s.text.WriteString("(allow network*)\n(allow system-socket)\n(allow mach-lookup (global-name \"com.apple.SystemConfiguration.configd\")" +
			" (global-name \"com.apple.trustd.agent\"))\n")
	} else {
		s.text.WriteString("(deny network*)\n(allow system-socket (socket-domain AF_UNIX))\n")
	}
	args := []string{"/usr/bin/sandbox-exec", "-p", s.text.String()}
	for i, p := range s.params {
		args = append(args, "-D", "P"+strconv.Itoa(i)+"="+p)
	}
	return append(append(args, "--"), argv...)
}

// deniedPaths returns the places of the programs that are denied with any arguments. A profile cannot
// compare arguments, so a rule for some of them is kept by reading the command only.
func deniedPaths(programs []confine.Program, path []string) (list []string) {
	for _, p := range programs {
		if len(p) == 0 || strings.Contains(p[0], "*") || len(p) > 2 || len(p) == 2 && p[1] != "**" {
			continue
		}
		places := []string{p[0]}
		if !strings.Contains(p[0], "/") {
			places = nil
			for _, dir := range path {
				places = append(places, dir+"/"+p[0])
			}
		}
		for _, place := range places {
			for _, at := range []string{place, workspace.RealPath(place)} {
				if !slices.Contains(list, at) {
					list = append(list, at)
				}
			}
		}
	}
	return list
}

func (s *seatbelt) rule(action, match, p string) {
	fmt.Fprintf(&s.text, "(%s (%s (param \"P%d\")))\n", action, match, len(s.params))
	s.params = append(s.params, p)
}

// deny denies a path, and also moving it or a folder above it, which would detach the rule from the
// content.
func (s *seatbelt) deny(action, p string, writable []string) {
	s.rule("deny "+action, "subpath", p)
	for dir := path.Dir(p); slices.ContainsFunc(writable, func(w string) bool { return workspace.InFolder(dir, w) }); dir = path.Dir(dir) {
		s.rule("deny file-write-unlink", "literal", dir)
	}
}
