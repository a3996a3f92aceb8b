package stream

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"fairlead/gateway/peer/sensitive"
)

// RequestedNames returns the names at the destination of the files and folders at some paths of a
// source. A path such as "." does not tell its name, which is then "". The system of the source is
// unknown, so a backslash may be a separator or a part of a name, and such a path has both names.
func RequestedNames(paths []string) (names []string) {
	for _, p := range paths {
		name := path.Base(path.Clean(strings.TrimRight(p, `/\`)))
		short := name
		if !strings.HasPrefix(p, "/") {
			short = name[strings.LastIndexByte(name, '\\')+1:]
		}
		for _, n := range []string{name, short} {
			if n == "." || n == ".." || n == "~" || n == "/" || strings.HasSuffix(n, ":") {
				n = ""
			}
			if n == "" || !slices.Contains(names, n) {
				names = append(names, n)
			}
			if short == name {
				break
			}
		}
	}
	return names
}

// Requested checks that a source sends nothing but the requested files and folders and what is
// below them. Without Names it accepts everything. One goroutine may use it.
type Requested struct {
	Machine string   // the source, for messages
	Names   []string // of [RequestedNames]; the source may choose one for each "", but no hidden one
}

// unrequestedError says that a source sent something that nobody requested. It ends the transfer.
type unrequestedError struct{ machine, name string }

func (e unrequestedError) Error() string {
	return fmt.Sprintf("%s sent %q, which was not requested, so the transfer was stopped", e.machine, e.name)
}

// check returns an error if a name, with slashes and relative to the destination's folder, was not
// requested.
func (q *Requested) check(name string) error {
	if len(q.Names) == 0 {
		return nil
	}
	for p := range strings.SplitSeq(name, "/") {
		if p == "" || p == "." || p == ".." || strings.ContainsRune(p, 0) {
			return unrequestedError{q.Machine, name}
		}
	}
	top, _, _ := strings.Cut(name, "/")
	if slices.Contains(q.Names, top) {
		return nil
	}
	unnamed := slices.Index(q.Names, "")
	if unnamed < 0 || top[0] == '.' {
		return unrequestedError{q.Machine, name}
	}
	q.Names = slices.Clone(q.Names)
	q.Names[unnamed] = top
	return nil
}

// CheckFrame checks the names that a source announces in a frame. An invalid frame is for the
// destination to refuse.
func (q *Requested) CheckFrame(f *Frame) (unrequested error) {
	records(f.Body(), func(kind byte, payload []byte) error {
		if kind != recEntry {
			return nil
		}
		e, err := parseEntry(payload)
		if err == nil {
			unrequested = q.check(e.name)
		}
		return unrequested
	})
	return unrequested
}

// maxStartup is the maximum number of reported start-up files of a transfer.
const maxStartup = 20

// startupPath returns the file or folder, below the requested one, that makes name a start-up file
// (package sensitive): name itself or a folder of it, with its program. The requested name itself
// does not count, because the rules see it.
func startupPath(name string) (at, program string) {
	_, below, nested := strings.Cut(name, "/")
	if !nested {
		return "", ""
	}
	for end := 0; end < len(below); end++ {
		if next := strings.IndexByte(below[end:], '/'); next >= 0 {
			end += next
		} else {
			end = len(below)
		}
		if e, ok := sensitive.Find("x/"+below[:end], "", sensitive.Startup); ok {
			return name[:len(name)-len(below)+end], e.Program()
		}
	}
	return "", ""
}

// StartupNote returns the file or folder that makes name a start-up file, and a note about it; both
// are empty for any other file.
func StartupNote(name string) (at, note string) {
	at, program := startupPath(name)
	if at == "" {
		return "", ""
	}
	return at, fmt.Sprintf("start-up file: it decides which programs %s runs", program)
}

// startupFiles decides about start-up files below the requested files. One goroutine may use it.
type startupFiles struct {
	Allowed  []string // may be stored; nil means all
	reported map[string]bool
}

// check refuses a start-up file that the person did not allow. The first time for an allowed one, it
// returns a note about it.
func (s *startupFiles) check(name string) (at, note string, err error) {
	at, program := startupPath(name)
	switch {
	case at == "" || s.reported[at]:
		return at, "", nil
	case s.Allowed != nil && !slices.Contains(s.Allowed, at):
		return at, "", fmt.Errorf("it decides which programs %s runs, and nobody was asked about it: send it by itself", program)
	}
	if s.reported == nil {
		s.reported = make(map[string]bool)
	}
	s.reported[at] = true
	_, note = StartupNote(name)
	return at, note, nil
}
