package transfer

import (
	"cmp"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// message is an event with what belongs to it.
type message struct {
	event    eventKind
	now      time.Time
	text     string                  // why the transfer waits, or has failed
	window   Window                  // of the person who asks; may be nil
	link     Link                    // that confirms a clean-up
	out      outcome                 // of an attempt
	progress bool                    // the attempt moved data
	undone   protocol.TransferUndone // of an undo
}

// The checks of the table of transitions. They get the row as it is stored.

func checkCanPause(row store.Transfer, _ message, _ Machines) error {
	if row.Simple {
		return protocol.ErrConflict.With("One of the machines cannot pause. Cancel the transfer instead")
	}
	return nil
}

// checkWindow lets only a window on the computer that is an end continue a transfer, unless the
// transfer is paused: then it waits for such a window.
func checkWindow(row store.Transfer, m message, _ Machines) error {
	if row.State != paused && !isItsWindow(row.Transfer, m.window) {
		return errElsewhere
	}
	return nil
}

func checkRetry(row store.Transfer, m message, _ Machines) error {
	if !isItsWindow(row.Transfer, m.window) {
		return errElsewhere
	}
	return nil
}

// isItsWindow reports whether a window may be the end of a transfer, if the transfer has such an end
// and the caller has a window.
func isItsWindow(t protocol.Transfer, w Window) bool {
	return w == nil || !atWindow(t) || w.Device() == t.Device
}

func checkUndo(row store.Transfer, m message, _ Machines) error {
	switch {
	case row.Undoable(m.now):
	case row.Undone > 0:
		return protocol.ErrConflict.With("The replaced files were already restored")
	default:
		return protocol.ErrConflict.With("This transfer replaced no files that can be restored")
	}
	if m.window != nil && row.To == protocol.Here && m.window.Device() != row.Device {
		return errElsewhere
	}
	return nil
}

// checkConfirmed accepts the confirmation of the destination only.
func checkConfirmed(row store.Transfer, m message, machines Machines) error {
	if link, _, ok := machines.Link(row.To); !needsCleanup(row.Transfer) || !ok || any(link) != any(m.link) {
		return errLate
	}
	return nil
}

// The changes of the table of transitions. The new state is set already. A change is applied to the
// row that is stored, and again to the visible one, whose amounts may be newer.

func setPaused(row *store.Transfer, _ message)    { row.Error = "" }
func setReason(row *store.Transfer, m message)    { row.Error = m.text }
func setStopped(*store.Transfer, message)         {}
func setCancelled(row *store.Transfer, m message) { setEnd(row, "", m.now) }
func setFailed(row *store.Transfer, m message)    { setEnd(row, m.text, m.now) }
func setCleaned(row *store.Transfer, _ message)   { row.Current = "" }

func setRunning(row *store.Transfer, m message) {
	row.Error, row.Current = "", ""
	row.StartedAt = cmp.Or(row.StartedAt, m.now.UnixMilli())
}

// setOffline limits the time for which a transfer without progress waits.
func setOffline(row *store.Transfer, m message) {
	row.Error = m.text
	if row.ExpiresAt == 0 || m.progress {
		row.ExpiresAt = expiry(row.Transfer, m.now)
	}
}

func setRetried(row *store.Transfer, _ message) {
	row.Error, row.EndedAt, row.Failed, row.Skipped, row.Problems, row.ExpiresAt = "", 0, 0, 0, nil, 0
}

func setUndone(row *store.Transfer, m message) {
	row.Undone, row.Problems = row.Undone+m.undone.Back, m.undone.Problems
	if row.Kept > 0 {
		if row.Kept = len(m.undone.Problems); row.Kept == 0 { // the remaining files can be tried again
			row.KeptUntil = 0
		}
	}
}

// setComplete ends a transfer that has moved its files, except for those that failed.
func setComplete(row *store.Transfer, m message) {
	t, d := &row.Transfer, m.out.done
	text := ""
	if d.Failed > 0 {
		text = format.Plural(d.Failed, "file") + " could not be transferred"
		if len(d.Problems) > 0 {
			text += ": " + d.Problems[0].Path + ": " + d.Problems[0].Text
		}
	}
	t.Failed, t.Skipped, t.Problems, t.Path, t.SHA256 = d.Failed, d.Skipped, d.Problems, d.Path, d.SHA256
	t.FilesDone = d.Files + d.Skipped
	switch written := d.BytesWritten; {
	case t.Simple:
		t.BytesDone = m.out.bytes
	case d.Failed > 0:
	case written == nil:
		t.BytesDone = t.Bytes
	default:
		if d.Skipped == 0 { // a file's size may have changed while it was sent
			t.Bytes = *written
		}
		t.BytesDone = t.Bytes
		if t.Attempts <= 1 { // otherwise earlier attempts wrote a part of the data
			t.BytesDone = *written
		}
	}
	setEnd(row, text, m.now)
}

// setEnd sets the fields of a transfer that has ended.
func setEnd(row *store.Transfer, text string, now time.Time) {
	t := &row.Transfer
	t.Error, t.EndedAt = text, now.UnixMilli()
	switch {
	case t.State == done, t.State == cancelled && !mayHaveUnfinished(*t):
		t.Current = ""
	case t.State == cancelled && t.Current == "":
		t.Current = "." // an unknown file
	}
}

// setReplaced records that the destination retains the former versions of a number of files.
func setReplaced(t *protocol.Transfer, files int, now time.Time) {
	if files > 0 {
		t.Kept, t.KeptUntil, t.Undone = files, now.Add(stream.TrashAge).UnixMilli(), 0
	}
}
