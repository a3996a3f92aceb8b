package baseline

import (
	"fmt"
	"strconv"
	"strings"

	"fairlead/gateway/protocol"
)

// maxPutBack is the number of files that a sentence names.
const maxPutBack = 3

// ProtectedNote tells the agent which protected paths a command tried to change in vain, and how to
// get the permission; empty for an empty list.
func ProtectedNote(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	verb, it := "is", "it starts"
	if len(paths) > 1 {
		verb, it = "are", "they start"
	}
	shown := paths[:min(len(paths), maxPutBack)]
	names := strings.Join(shown, ", ")
	if n := len(paths) - len(shown); n > 0 {
		names += fmt.Sprintf(" and %d more", n)
	}
	quoted := make([]string, len(shown))
	for i, p := range shown {
		quoted[i] = strconv.Quote(p)
	}
	return fmt.Sprintf("%s %s protected, because %s programs later%s[%s]%s", names, verb, it, protocol.NoteAskFor, strings.Join(quoted, ", "), protocol.NoteAskForEnd)
}

// putBack describes what was done about the protected files that a command changed unasked; empty
// for an empty list.
func putBack(list []protocol.ProtectedChange) string {
	var done, failed []string
	for _, c := range list {
		if c.Problem != "" {
			failed = append(failed, fmt.Sprintf("%s was %s and could not be put back: %s.", c.Path, c.Kind, c.Problem))
			continue
		}
		done = append(done, describeChange(c))
	}
	var text []string
	if n := len(done); n > 0 {
		named := strings.Join(done[:min(n, maxPutBack)], "; ")
		if n > maxPutBack {
			named += fmt.Sprintf("; and %d more", n-maxPutBack)
		}
		text = append(text, "The command changed protected files without permission: "+named+". This was undone; what it wrote is in the trash. "+protocol.NoteMayAsk)
	}
	return strings.Join(append(text, failed[:min(len(failed), maxPutBack)]...), " ")
}

// removedNote describes the temporary files that were removed; empty for an empty list.
func removedNote(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return "A rule denies writing " + nameSome(paths) + ", which the command created. This was removed."
}

// describeChange describes one change: "/w/.husky/pre-commit was created, which runs at your next
// commit".
func describeChange(c protocol.ProtectedChange) string {
	text := c.Path + " was " + c.Kind
	if c.Why != "" {
		text += ", which " + c.Why
	}
	return text
}

// Exposed are files that a command opened to other users of the machine, by their paths.
type Exposed struct{ SetUID, Readable []string }

// Add adds the files of another one.
func (e *Exposed) Add(more Exposed) {
	e.SetUID = append(e.SetUID, more.SetUID...)
	e.Readable = append(e.Readable, more.Readable...)
}

// String says in sentences what is open, and how to close it; empty without a file.
func (e Exposed) String() string {
	var text []string
	if len(e.SetUID) > 0 {
		text = append(text, "This command made "+nameSome(e.SetUID)+" set-uid: whoever starts it has the rights of its owner or group. “chmod ug-s” undoes that.")
	}
	if len(e.Readable) > 0 {
		text = append(text, "This command made "+nameSome(e.Readable)+" readable for every user of this machine. “chmod go-rwx” undoes that.")
	}
	return strings.Join(text, " ")
}

// nameSome lists the first paths, and counts the others.
func nameSome(paths []string) string {
	if n := len(paths) - maxPutBack; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:maxPutBack], ", "), n)
	}
	return strings.Join(paths, ", ")
}
