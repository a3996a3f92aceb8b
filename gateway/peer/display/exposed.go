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
		text = append(text, "Whoever starts "+nameSome(e.SetUID)+" runs it with the rights of its owner or group (set-uid), since this command. “chmod ug-s” ends that.")
	}
	if len(e.Readable) > 0 {
		text = append(text, "Every user of this machine can read "+nameSome(e.Readable)+", since this command. “chmod go-rwx” ends that.")
	}
	return strings.Join(text, " ")
}

// nameSome lists the first paths, and counts the others.
func nameSome(paths []string) string {
	if n := len(paths) - maxPutBack; n > 0 {
		return fmt.Sprintf("%s and %d more files", strings.Join(paths[:maxPutBack], ", "), n)
	}
	return strings.Join(paths, ", ")
}
