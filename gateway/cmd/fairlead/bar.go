package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// bar is a progress bar on one line.
type bar struct {
	out   io.Writer
	plain bool
	drawn bool
}

const barCells = 24

func (b *bar) show(t protocol.Transfer) {
	line := t.State
	if t.Bytes > 0 || t.Files > 0 {
		part := 1.0
		if t.Bytes > 0 {
			part = float64(t.BytesDone) / float64(t.Bytes)
		}
		line = cells(part) + fmt.Sprintf("  %s of %s", format.Size(t.BytesDone), format.Size(t.Bytes))
		if t.Files > 1 {
			line += fmt.Sprintf("  %d/%d files", t.FilesDone, t.Files)
		}
		switch {
		case t.State != protocol.TransferRunning:
			line += "  " + t.State
		case t.Comparing():
			line += "  checking what is there already"
		case t.Speed > 0:
			line += "  " + format.Size(t.Speed) + "/s"
			if t.ETA > 0 {
				line += "  " + (time.Duration(t.ETA) * time.Millisecond).Round(time.Second).String() + " left"
			}
		}
		if t.State == protocol.TransferRunning && t.Route != "" {
			line += "  " + t.Route
		}
	}
	if t.State == protocol.TransferWaiting && t.Error != "" {
		line += ": " + flat(t.Error)
	}
	b.print(line)
}

// cells draws a part of 1 as a bar with its percentage.
func cells(part float64) string {
	full := int(min(max(part, 0), 1) * barCells)
	return fmt.Sprintf("%s%s %3.0f%%", strings.Repeat("█", full), strings.Repeat("░", barCells-full), part*100)
}

// sizeText says how much of a size is done; total is 0 as long as it is unknown.
func sizeText(done, total int64) string {
	if total == 0 {
		return "starting"
	}
	return cells(float64(done)/float64(total)) + fmt.Sprintf("  %s of %s", format.Size(done), format.Size(total))
}

// print replaces the line, unless the output is plain.
func (b *bar) print(line string) {
	if b.plain {
		return
	}
	fmt.Fprintf(unfilteredOutput(b.out), "\r%s\x1b[K", line)
	b.drawn = true
}

func (b *bar) end() {
	if b.drawn {
		fmt.Fprintln(b.out)
	}
}

// summary describes the result of a transfer, for people.
func summary(t protocol.Transfer) string {
	var s strings.Builder
	if t.State == protocol.TransferDone {
		as := ""
		if name := newName(t); name != "" {
			as = " as " + flat(name)
		}
		count, already := t.FilesDone-t.Skipped, " skipped, already there"
		// A later attempt cannot tell files of an earlier attempt from other existing files.
		if t.Attempts > 1 {
			count, already = t.FilesDone, " already transferred by an earlier attempt"
		} else if t.Skipped > 0 && count == 0 {
			fmt.Fprintf(&s, "Skipped: %s already at %s%s. Nothing was written.\n", format.Plural(t.Skipped, "file"), destinationPath(t), as)
			return s.String()
		}
		fmt.Fprintf(&s, "%s, %s, arrived at %s%s", format.Plural(count, "file"), format.Size(t.BytesDone), destinationPath(t), as)
		if took := time.Duration(t.EndedAt-t.StartedAt) * time.Millisecond; took > 0 && t.StartedAt > 0 {
			fmt.Fprintf(&s, " in %s", took.Round(10*time.Millisecond))
		}
		if t.Route == protocol.RouteDirect {
			s.WriteString(", sent directly between the machines")
		}
		if t.Skipped > 0 {
			fmt.Fprintf(&s, "; %s%s", format.Plural(t.Skipped, "file"), already)
		}
		s.WriteString(".\n")
		if t.Undoable(time.Now()) {
			fmt.Fprintf(&s, "%[2]d replaced; the old versions are kept until %[1]s. To restore them: fairlead transfers undo %[3]s\n",
				time.UnixMilli(t.KeptUntil).Format(time.DateOnly), t.Kept, shortID(t.ID))
		}
	}
	for _, p := range t.Problems {
		fmt.Fprintf(&s, "%s: %s\n", flat(p.Path), flat(p.Text))
	}
	return s.String()
}

// destinationPath returns the destination of a transfer, without the marker for this computer.
func destinationPath(t protocol.Transfer) string {
	return flat(strings.TrimPrefix(t.Destination, string(protocol.Here)+":"))
}

// newName returns the new name of a single sent item if the requested name was taken.
func newName(t protocol.Transfer) string {
	if len(t.Sources) != 1 || t.Path == "" {
		return ""
	}
	last := func(p string) string { return p[strings.LastIndexAny(p, `/\`)+1:] }
	wish := t.Destination
	if t.Into {
		wish = t.Sources[0]
	}
	_, wish, _ = strings.Cut(wish, ":")
	if name := last(t.Path); name != last(strings.TrimRight(wish, `/\`)) {
		return name
	}
	return ""
}

// shortID returns enough of an ID to name a transfer.
func shortID[T ~string](id T) string { return string(id[:min(8, len(id))]) }
