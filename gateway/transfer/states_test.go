package transfer

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// transitionTable says what every event does in every state: the next state, "same" for a success
// that changes nothing, or the refusal: "ended" and "open" for a person, "stopped" for an attempt
// that may not begin, "late" for what has no meaning any more.
const transitionTable = `
event       queued     waiting    running    paused     done      failed    cancelled
pause       paused     paused     paused     same       ended     ended     ended
resume      same       same       same       queued     ended     ended     ended
await       same       same       same       waiting    ended     ended     ended
cancel      cancelled  cancelled  cancelled  cancelled  ended     ended     same
retry       same       same       same       same       ended     queued    queued
undo        open       open       open       open       same      same      same
undone      late       late       late       late       done      failed    cancelled
cleanup     late       late       late       late       late      late      same
cleaned     late       late       late       late       late      late      cancelled
detach      same       same       same       same       late      late      late
start       same       same       late       late       late      late      late
expire      failed     failed     late       late       late      late      late
begin       running    running    stopped    stopped    stopped   stopped   stopped
arrived     done       done       done       done       late      late      done
incomplete  failed     failed     failed     failed     late      late      failed
stopped     queued     waiting    queued     paused     late      late      cancelled
revoked     failed     failed     failed     failed     late      late      cancelled
indirect    queued     queued     queued     paused     late      late      cancelled
shutdown    waiting    waiting    waiting    paused     late      late      cancelled
unstored    waiting    waiting    waiting    paused     late      late      cancelled
offline     waiting    waiting    waiting    paused     late      late      cancelled
failed      failed     failed     failed     paused     late      late      cancelled
`

// outcomeOf says in the words of the table what an event did.
func outcomeOf(before, after string, published bool, err error) string {
	switch {
	case errors.Is(err, errLate):
		return "late"
	case errors.Is(err, errPaused):
		return "stopped"
	case err != nil && strings.Contains(err.Error(), "has ended already: it is "+before):
		return "ended"
	case err != nil && strings.Contains(err.Error(), "has not ended yet"):
		return "open"
	case err != nil:
		return err.Error()
	case !published && after == before:
		return "same"
	}
	return after
}

// Every event in every state: what it leads to is stored and published, and what is refused changes
// nothing. With a full disk, whatever would be stored fails and changes nothing either.
func TestEveryEventInEveryState(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	st, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	bus := new(event.Bus)
	e := New(Options{Store: st.Transfers, Bus: bus, Machines: oneLink{}})
	defer e.Close()

	lines := strings.Split(strings.TrimSpace(transitionTable), "\n")
	columns := strings.Fields(lines[0])[1:]
	if len(lines)-1 != len(transitions) {
		t.Errorf("events: got %d in the test, want %d", len(lines)-1, len(transitions))
	}
	type cell struct {
		event, before, want string
		row                 store.Transfer
	}
	var cells []cell
	for _, line := range lines[1:] {
		words := strings.Fields(line)
		for i, before := range columns {
			cells = append(cells, cell{words[0], before, words[i+1], store.Transfer{Transfer: protocol.Transfer{
				State: before, Sources: []string{"a:x"}, From: "a", To: "b", Attempts: 1, Current: "x", Kept: 1, KeptUntil: time.Now().Add(time.Hour).UnixMilli(),
			}}})
		}
	}
	for _, isFull := range []bool{false, true} {
		for i := range cells {
			cells[i].row.ID = protocol.TransferID(protocol.NewID())
			if err := st.Transfers.Put(t.Context(), cells[i].row); err != nil {
				t.Fatal(err)
			}
		}
		if isFull {
			defer RefuseWrites(t, path)()
		}
		for _, c := range cells {
			j := newJob(e.services, c.row, nil)
			published := false
			sub := bus.SubscribeOnly(func(protocol.Change) bool {
				published = true
				return false
			})
			_, err := j.change(message{event: eventKind(c.event), text: "why", now: time.Now(), link: link{}})
			sub.Close()
			after := j.live.view().State
			if stored, err := st.Transfers.Get(t.Context(), c.row.ID); err != nil || stored.State != after {
				t.Errorf("%s while %s: got %s in the store, %v, want %s", c.event, c.before, stored.State, err, after)
			}
			if isFull && transitions[eventKind(c.event)][c.before].set != nil {
				if err == nil || !strings.Contains(err.Error(), "the disk is full") || after != c.before || published {
					t.Errorf("%s while %s on a full disk: got %s, published %v, %v, want an error and %s", c.event, c.before, after, published, err, c.before)
				}
			} else if got := outcomeOf(c.before, after, published, err); got != c.want {
				t.Errorf("%s while %s: got %s, want %s", c.event, c.before, got, c.want)
			}
		}
	}
}

// link is the connection of node b.
type link struct{ Link }

func (link) Close(int, string) {}

// oneLink is a list of nodes with b only.
type oneLink struct{ Machines }

func (oneLink) Link(id protocol.NodeID) (nodes.Link, nodes.Contact, bool) {
	return link{}, nodes.Contact{}, id == "b"
}
