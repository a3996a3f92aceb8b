package state

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Transfers controls transfers and their history. It is safe for concurrent use.
type Transfers struct{ app *App }

// Fetch queues the transfer of a file to a folder of this computer. It blocks.
func (s Transfers) Fetch(ctx context.Context, from protocol.NodeID, file, dir string) (protocol.Transfer, error) {
	return feed.Call(ctx, s.app, protocol.TransferStart, protocol.TransferStartParams{Sources: []string{string(from) + ":" + file}, Destination: protocol.Here + ":" + dir, Into: true})
}

// Send queues a transfer from one machine to a folder of another. It blocks.
func (s Transfers) Send(ctx context.Context, from protocol.NodeID, paths []string, to protocol.NodeID, dir string) (protocol.Transfer, error) {
	sources := lists.Map(paths, func(f string) string { return string(from) + ":" + f })
	return feed.Call(ctx, s.app, protocol.TransferStart, protocol.TransferStartParams{
		Sources: sources, Destination: string(to) + ":" + dir, Into: true, Later: true,
	})
}

// Control pauses, resumes, cancels or retries a transfer. A failure becomes a notice.
func (s Transfers) Control(m protocol.Method[protocol.TransferParams, protocol.Transfer], id protocol.TransferID) {
	feed.Start(s.app.Feed, m, protocol.TransferParams{ID: id})
}

// SendAgain queues a finished transfer again: files that the destination already has are skipped.
func (s Transfers) SendAgain(t protocol.Transfer) {
	feed.Start(s.app.Feed, protocol.TransferStart, protocol.TransferStartParams{Sources: t.Sources, Destination: t.Destination, Into: t.Into, Conflict: t.Conflict, Links: t.Links, Later: true})
}

// Undo restores the files that a transfer replaced, and says how many. It blocks.
func (s Transfers) Undo(ctx context.Context, t protocol.Transfer) (string, error) {
	now, err := feed.Call(ctx, s.app, protocol.TransferUndo, protocol.TransferParams{ID: t.ID})
	if err != nil {
		return "", err
	}
	text := wording.Plural(now.Undone-t.Undone, "file restored", "files restored") + "."
	if n := len(now.Problems); n > 0 {
		text += fmt.Sprintf(" %s: %s.", now.Problems[0].Path, now.Problems[0].Text)
		if n > 1 {
			text += " " + wording.Plural(n-1, "more could not be restored", "more could not be restored") + "."
		}
	}
	return text, nil
}

// historyPage is the number of finished transfers per request, the gateway's maximum.
const historyPage = 500

// TransferHistory has the newest finished transfers, and the number of all of them.
type TransferHistory struct {
	List  []protocol.Transfer
	Total int
}

// History loads the history. It blocks.
func (s Transfers) History(ctx context.Context) (TransferHistory, error) {
	r, err := feed.Call(ctx, s.app, protocol.TransferList, protocol.TransferListParams{History: true, Limit: historyPage})
	removed := s.app.View().Transfers.Removed
	list := lists.Without(r.Transfers, func(t protocol.Transfer) bool { return removed[t.ID] })
	return TransferHistory{list, max(r.Count-len(removed), len(list))}, err
}

// ClearHistory is [Transfers.Remove] for all transfers that have finished by now. It blocks.
func (s Transfers) ClearHistory(ctx context.Context) (undo func(), err error) {
	var ids []protocol.TransferID
	for {
		r, err := feed.Call(ctx, s.app, protocol.TransferList, protocol.TransferListParams{History: true, Offset: len(ids), Limit: historyPage})
		if err != nil {
			return nil, err
		}
		ids = append(ids, lists.Map(r.Transfers, func(t protocol.Transfer) protocol.TransferID { return t.ID })...)
		if len(r.Transfers) == 0 || len(ids) >= r.Count {
			return s.Remove(ids...), nil
		}
	}
}

// Remove removes transfers with the parts of incomplete files as in [App.deleteLater].
func (s Transfers) Remove(ids ...protocol.TransferID) (undo func()) {
	hide := func(on bool) {
		s.app.Update(func(v *feed.View) {
			v.Transfers.Removed = lists.MapWith(v.Transfers.Removed, true, on, ids...)
			v.Changed.History++
		}, s.app.Feed.Transfers, s.app.Changed)
	}
	return s.app.Tasks.DeleteLater(hide, feed.DoNothing, func(ctx context.Context) error {
		for part := range slices.Chunk(ids, historyPage) {
			if err := feed.Send(ctx, s.app, protocol.TransferForget, protocol.TransferForgetParams{IDs: part}); err != nil {
				return err
			}
		}
		return nil
	}, feed.DoNothing)
}

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

// TransferStartText describes a transfer that has just been queued, after a verb such as "Sending ",
// or the offline machine that it waits for.
func TransferStartText(v feed.View, verb string, t protocol.Transfer) string {
	for _, n := range v.Machines {
		if t.State != protocol.TransferWaiting || n.Online || n.ID != t.From && n.ID != t.To {
			continue
		}
		return fmt.Sprintf("%s is offline. %s will be sent when it is back.", feed.NameOf(n), transferName(t))
	}
	return verb + TransferTitle(v, t)
}

// TransferTitle describes a transfer: photos to nas. A long name is shortened.
func TransferTitle(v feed.View, t protocol.Transfer) string {
	return transferName(t) + " to " + EndOf(v, t, t.To)
}

// transferName describes what a transfer moves: photos and 2 more.
func transferName(t protocol.Transfer) string {
	what := ""
	if len(t.Sources) > 0 {
		what = question.ShortenMiddle(question.VisibleName(path.Base(strings.TrimRight(wording.Slashes(PathOf(t.Sources[0])), "/"))), 40)
	}
	if what == "" || what == "." || what == "/" {
		what = "everything"
	}
	if n := len(t.Sources) - 1; n > 0 {
		what += fmt.Sprintf(" and %d more", n)
	}
	return what
}

// TransferLine describes a transfer's progress: 1.2 GB of 3.4 GB · 86 MB/s · about 2 min.
func TransferLine(v feed.View, t protocol.Transfer, now time.Time) string {
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
			parts[2] = "in " + wording.DurationText(time.Duration(took)*time.Millisecond)
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
			parts = append(parts, wording.Plural(n, one, many))
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
		why = strings.TrimSpace(why + " (until " + wording.When(t.ExpiresAt, now) + ")")
	}
	return append(parts, why)
}

// offlineEnd returns the name of an end of a transfer that is an offline machine, or "".
func offlineEnd(v feed.View, t protocol.Transfer) string {
	for _, id := range []protocol.NodeID{t.From, t.To} {
		if n, ok := v.Machines.Find(id); ok && !n.Online {
			return feed.NameOf(n)
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

// TransferNews returns the finished transfers of this window's person that no chat reports.
func TransferNews(v feed.View) []protocol.Transfer {
	return lists.Without(v.Transfers.Finished, func(t protocol.Transfer) bool { return t.CallID != "" || IsRemoteEnd(v, t) })
}

// TransferEnd describes a finished transfer and its outcome.
func TransferEnd(v feed.View, t protocol.Transfer, now time.Time) (title, text string) {
	text = TransferLine(v, t, now)
	if t.State == protocol.TransferDone {
		text = "Done · " + text
	}
	return TransferTitle(v, t), text
}

// TransferEnds describes the outcomes of several transfers.
func TransferEnds(list []protocol.Transfer) (title, text string) {
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
