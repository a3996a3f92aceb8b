package state

import (
	"fmt"
	"path"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// SizeText formats a size: 812 B, 1.4 GB.
func SizeText(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB"}
	v, i := float64(n), 0
	for v >= 999.5 && i < len(units)-1 {
		v, i = v/1000, i+1
	}
	if i == 0 || v >= 9.95 {
		return fmt.Sprintf("%.0f %s", v, units[i])
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}

// ETAText formats an estimated duration.
func ETAText(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < 10*time.Second:
		return "a few seconds"
	case d < time.Minute:
		return fmt.Sprintf("about %d s", int(d.Round(10*time.Second).Seconds()))
	case d < 90*time.Minute:
		return fmt.Sprintf("about %d min", max(1, int(d.Round(time.Minute).Minutes())))
	case d < 36*time.Hour:
		return fmt.Sprintf("about %d h", int(d.Round(time.Hour).Hours()))
	}
	return fmt.Sprintf("about %d days", int(d.Round(24*time.Hour).Hours()/24))
}

// EndName returns the display name of an end of a transfer.
func EndName(v View, id protocol.NodeID) string {
	switch id {
	case protocol.Here:
		return "this computer"
	case "gsv":
		return "the agent's files"
	}
	return v.MachineName(id)
}

// IsRemoteEnd reports whether an end of a transfer is a client on another computer.
func IsRemoteEnd(v View, t protocol.Transfer) bool {
	return (t.From == protocol.Here || t.To == protocol.Here) && t.Device != v.Device
}

// EndOf returns the display name of an end of a transfer, t.From or t.To.
func EndOf(v View, t protocol.Transfer, id protocol.NodeID) string {
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

// ShortenMiddle shortens a name to n characters, in its middle because of the extension.
func ShortenMiddle(name string, n int) string {
	r := []rune(name)
	if len(r) <= n {
		return name
	}
	tail := n / 3
	return strings.TrimRight(string(r[:n-tail-1]), " ") + "…" + strings.TrimLeft(string(r[len(r)-tail:]), " ")
}

// TransferTitle describes a transfer: photos to nas. A long name is shortened.
func TransferTitle(v View, t protocol.Transfer) string {
	what := ""
	if len(t.Sources) > 0 {
		what = ShortenMiddle(VisibleName(path.Base(strings.TrimRight(slashes(PathOf(t.Sources[0])), "/"))), 40)
	}
	if what == "" || what == "." || what == "/" {
		what = "everything"
	}
	if n := len(t.Sources) - 1; n > 0 {
		what += fmt.Sprintf(" and %d more", n)
	}
	return what + " to " + EndOf(v, t, t.To)
}

// TransferLine describes a transfer's progress: 1.2 GB of 3.4 GB · 86 MB/s · about 2 min.
func TransferLine(v View, t protocol.Transfer, now time.Time) string {
	progress := SizeText(t.BytesDone)
	if t.Bytes > 0 {
		progress += " of " + SizeText(t.Bytes)
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
		if parts = []string{"Counting files"}; t.Bytes > 0 || t.BytesDone > 0 {
			parts = []string{progress, "", ETAText(time.Duration(t.ETA) * time.Millisecond), t.Route}
			if t.Speed > 0 {
				parts[1] = SizeText(t.Speed) + "/s"
			}
		}
	case protocol.TransferPaused:
		parts = []string{"Paused", progress}
	case protocol.TransferDone:
		parts = []string{SizeText(t.BytesDone), "from " + EndOf(v, t, t.From), "", t.Route}
		if took := t.EndedAt - t.StartedAt; t.StartedAt > 0 && took > 0 {
			parts[2] = "in " + DurationText(time.Duration(took)*time.Millisecond)
		}
	case protocol.TransferCancelled:
		parts = []string{"Cancelled", progress}
	default:
		if parts = []string{"Failed", t.Error}; strings.HasPrefix(t.Error, "Failed") {
			parts = parts[1:]
		}
	}
	count := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, Plural(n, one, many))
		}
	}
	count(t.Skipped, "file already there", "files already there")
	if t.Undone > 0 {
		count(t.Undone, "replaced file restored", "replaced files restored")
	} else {
		count(t.Kept, "file replaced", "files replaced")
	}
	count(t.Failed, "file failed", "files failed")
	return joinNonEmpty(" · ", parts...)
}

func waitingParts(v View, t protocol.Transfer, now time.Time) (parts []string) {
	why := t.Error
	if name := offlineEnd(v, t); name != "" { // whatever failed when the machine went offline
		why = "Waiting for " + name
	} else if rest, ok := strings.CutPrefix(why, "Waits for "); ok { // the gateway's words
		why = "Waiting for " + rest
	}
	if !strings.HasPrefix(why, "Waiting") {
		parts = append(parts, "Waiting")
	}
	if t.ExpiresAt > 0 {
		why = strings.TrimSpace(why + " (until " + When(t.ExpiresAt, now) + ")")
	}
	return append(parts, why)
}

// offlineEnd returns the name of an end of a transfer that is an offline machine, or "".
func offlineEnd(v View, t protocol.Transfer) string {
	for _, id := range []protocol.NodeID{t.From, t.To} {
		if n, ok := v.Node(id); ok && !n.Online {
			return NameOf(n)
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

// TransferNews returns the finished transfers to announce to this window's person: not those of
// another computer's files, and not those of the agent, which its chat reports.
func TransferNews(v View) []protocol.Transfer {
	return without(v.Finished, func(t protocol.Transfer) bool { return t.CallID != "" || IsRemoteEnd(v, t) })
}

// TransferEnd describes a finished transfer and its outcome.
func TransferEnd(v View, t protocol.Transfer, now time.Time) (title, text string) {
	text = TransferLine(v, t, now)
	if t.State == protocol.TransferDone {
		text = "Done · " + text
	}
	return TransferTitle(v, t), text
}

// TransferEnds describes the outcomes of several transfers.
func TransferEnds(list []protocol.Transfer) (title, text string) {
	failed := len(without(list, func(t protocol.Transfer) bool { return t.State == protocol.TransferDone }))
	var parts []string
	if done := len(list) - failed; done > 0 {
		parts = append(parts, fmt.Sprintf("%d done", done))
	}
	if failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", failed))
	}
	return fmt.Sprintf("%d transfers finished", len(list)), strings.Join(parts, " · ")
}
