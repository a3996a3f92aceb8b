package transfer

import (
	"fmt"
	"path"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// EndName returns the display name of an end of a transfer.
func EndName(v feed.View, id protocol.NodeID) string {
	switch id {
	case protocol.Here:
		return "this computer"
	case "gsv":
		return "the agent's files"
	}
	return v.Machines.Name(id)
}

// IsRemoteEnd reports whether an end of a transfer is a client on another computer.
func IsRemoteEnd(v feed.View, t protocol.Transfer) bool {
	return (t.From == protocol.Here || t.To == protocol.Here) && t.Device != v.Status.Device
}

// EndOf returns the display name of an end of a transfer, t.From or t.To.
func EndOf(v feed.View, t protocol.Transfer, id protocol.NodeID) string {
	if id == protocol.Here && IsRemoteEnd(v, t) {
		return "another computer"
	}
	return EndName(v, id)
}

// PathOf returns the path of an end written as machine:path.
func PathOf(end string) string {
	_, p, _ := strings.Cut(end, ":")
	return p
}

// StartText describes a transfer that has just been queued, after a verb such as "Sending ",
// or the offline machine that it waits for.
func StartText(v feed.View, verb string, t protocol.Transfer) string {
	for _, n := range v.Machines {
		if t.State != protocol.TransferWaiting || n.Online || n.ID != t.From && n.ID != t.To {
			continue
		}
		return fmt.Sprintf("%s is offline. %s will be sent when it is back.", n.DisplayName(), contents(t))
	}
	return verb + Title(v, t)
}

// Title describes a transfer: photos to nas. A long name is shortened.
func Title(v feed.View, t protocol.Transfer) string {
	return contents(t) + " to " + EndOf(v, t, t.To)
}

// contents describes what a transfer moves: photos and 2 more.
func contents(t protocol.Transfer) string {
	what := ""
	if len(t.Sources) > 0 {
		what = wording.ShortenMiddle(wording.VisibleName(path.Base(strings.TrimRight(wording.Slashes(PathOf(t.Sources[0])), "/"))), 40)
	}
	if what == "" || what == "." || what == "/" {
		what = "everything"
	}
	if n := len(t.Sources) - 1; n > 0 {
		what += fmt.Sprintf(" and %d more", n)
	}
	return what
}

// Line describes a transfer's progress: 1.2 GB of 3.4 GB · 86 MB/s · about 2 min.
func Line(v feed.View, t protocol.Transfer, now time.Time) string {
	progress := format.Size(t.BytesDone)
	if t.Bytes > 0 {
		progress += " of " + format.Size(t.Bytes)
	}
	if t.Files > 1 {
		progress = fmt.Sprintf("%d of %d files, %s", t.FilesDone, t.Files, progress)
	}
	var parts []string
	switch t.State {
	case protocol.TransferQueued:
		parts = []string{"Queued"}
	case protocol.TransferWaiting:
		parts = waitingParts(v, t, now)
	case protocol.TransferRunning:
		parts = []string{"Counting files…"}
		if t.Comparing() {
			parts = []string{"Checking what is there already…"}
		} else if t.Bytes > 0 || t.BytesDone > 0 {
			parts = []string{progress, "", wording.ETAText(time.Duration(t.ETA) * time.Millisecond), t.Route}
			if t.Speed > 0 {
				parts[1] = format.Size(t.Speed) + "/s"
			}
		}
	case protocol.TransferPaused:
		parts = []string{"Paused", progress}
	case protocol.TransferDone:
		parts = []string{format.Size(t.BytesDone), "from " + EndOf(v, t, t.From), "", t.Route}
		if took := t.EndedAt - t.StartedAt; t.StartedAt > 0 && took > 0 {
			parts[2] = "in " + format.Duration(time.Duration(took)*time.Millisecond)
		}
	case protocol.TransferCancelled:
		parts = []string{"Cancelled", progress}
	default:
		parts = []string{"Failed", t.Error}
		if strings.HasPrefix(t.Error, "Failed") {
			parts = parts[1:]
		}
	}
	count := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, format.Plural(n, one, many))
		}
	}
	count(t.Skipped, "file already there", "files already there")
	if t.Undone > 0 {
		count(t.Undone, "replaced file restored", "replaced files restored")
	} else {
		count(t.Kept, "file replaced", "files replaced")
	}
	count(t.Failed, "file failed", "files failed")
	return wording.Join(" · ", parts...)
}

func waitingParts(v feed.View, t protocol.Transfer, now time.Time) (parts []string) {
	why := t.Error
	if name := offlineEnd(v, t); name != "" { // whatever failed when the machine went offline
		why = "Waiting for " + name
	}
	if !strings.HasPrefix(why, "Waiting") {
		parts = append(parts, "Waiting")
	}
	if t.ExpiresAt > 0 {
		why = strings.TrimSpace(why + " (until " + format.When(t.ExpiresAt, now) + ")")
	}
	return append(parts, why)
}

// offlineEnd returns the name of an end of a transfer that is an offline machine, or "".
func offlineEnd(v feed.View, t protocol.Transfer) string {
	for _, id := range []protocol.NodeID{t.From, t.To} {
		if n, ok := v.Machines.Find(id); ok && !n.Online {
			return n.DisplayName()
		}
	}
	return ""
}

// Progress returns the transferred fraction, from 0 to 1; it is 0 while the size is unknown.
func Progress(t protocol.Transfer) float64 {
	switch {
	case t.State == protocol.TransferDone:
		return 1
	case t.Bytes <= 0:
		return 0
	}
	return min(float64(t.BytesDone)/float64(t.Bytes), 1)
}

// News returns the finished transfers of this window's person that no chat reports.
func News(v feed.View) []protocol.Transfer {
	return lists.Without(v.Transfers.Finished, func(t protocol.Transfer) bool { return t.CallID != "" || IsRemoteEnd(v, t) })
}

// Outcome describes a finished transfer and its outcome.
func Outcome(v feed.View, t protocol.Transfer, now time.Time) (title, text string) {
	text = Line(v, t, now)
	if t.State == protocol.TransferDone {
		text = "Done · " + text
	}
	return Title(v, t), text
}

// Outcomes describes the outcomes of several transfers.
func Outcomes(list []protocol.Transfer) (title, text string) {
	failed := len(lists.Without(list, func(t protocol.Transfer) bool { return t.State == protocol.TransferDone }))
	count := func(n int, word string) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprint(n, " ", word)
	}
	text = wording.Join(" · ", count(len(list)-failed, "done"), count(failed, "failed"))
	return fmt.Sprintf("%d transfers finished", len(list)), text
}
