package approve

import (
	"fmt"
	"time"

	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// arming decides when Allow is enabled: after the person could see what it would do. It also
// reports each approval once as shown.
type arming struct {
	state.Arming
	now      func() time.Time
	onScreen bool // the window is visible
	revision int  // number of changes of what Allow would do
	reported map[protocol.ApprovalID]bool
	onShown  func(protocol.ApprovalID)
}

// begin starts the time during which an approval must be visible.
func (a *arming) begin(q protocol.Approval) {
	if q.ID == "" || !a.onScreen {
		return
	}
	a.Show(fmt.Sprint(q.ID, q.Hash, a.revision), a.now())
	if !a.reported[q.ID] {
		a.reported[q.ID] = true
		a.onShown(q.ID)
	}
}

// isArmed reports whether an allow counts now.
func (a *arming) isArmed() bool {
	ok, _ := a.Armed(a.now())
	return ok
}

// keyPressed delays Allow: a key press may be meant for something else.
func (a *arming) keyPressed() { a.Key(a.now()) }
