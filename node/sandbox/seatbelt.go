package sandbox

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"fairlead/node/workspace"
)

// seatbelt is the input of macOS' sandbox-exec: a profile that denies everything it does not name,
// and its parameters, because paths must not be inserted into the text.
type seatbelt struct {
	text   strings.Builder
	params []string
}

// seatbeltFiles are real paths, because the system compares link targets.
type seatbeltFiles struct {
	Write, Read, Hidden []string
	// Protected cannot be written although it lies in writable folders.
	Protected []string
	Network   bool
	TTY       string
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
// the order is: write, hide, grant.
func seatbeltArgs(f seatbeltFiles, argv []string) []string {
	var s seatbelt
	s.text.WriteString(seatbeltBase)
	if f.TTY != "" {
		s.rule("allow file-read* file-write* file-ioctl", "literal", f.TTY)
	}
	for _, p := range f.Write {
		s.rule("allow file-write*", "subpath", p)
	}
	for _, p := range f.Protected {
		s.deny("file-write*", p, f.Write)
	}
	for _, p := range f.Hidden {
		s.deny("file-read* file-write*", p, f.Write)
	}
	for _, p := range f.Read {
		s.rule("allow file-read*", "subpath", p)
	}
	for _, p := range f.Write {
		// A workspace in a hidden folder was granted by name; hidden paths inside it were not.
		if slices.ContainsFunc(f.Hidden, func(h string) bool { return workspace.InFolder(p, h) }) {
			s.rule("allow file-read* file-write*", "subpath", p)
		}
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
