package display

import (
	"fmt"
	"strings"
)

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
