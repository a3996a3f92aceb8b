package transfer

import (
	"time"

	"fairlead/gateway/protocol"
)

// notify makes the owner look at what the queue has ordered, and whether it may leave.
func (j *job) notify() {
	j.wake.Send()
}

// obeyLater orders an event for which the queue does not wait.
func (j *job) obeyLater(e eventKind) {
	j.live.mu.Lock()
	j.ordered = e
	j.live.mu.Unlock()
	j.notify()
}

// revoke stops the job and makes its transfer fail, if isMeant is true for the transfer.
func (j *job) revoke(why string, isMeant func(protocol.Transfer) bool) bool {
	j.live.mu.Lock()
	defer j.live.mu.Unlock()
	if !isMeant(j.live.row.Transfer) {
		return false
	}
	j.revoked = why
	if j.cancel != nil {
		j.cancel(final("%s", why))
	}
	j.notify()
	return true
}

// isRunning reports whether the job counts as running, and its destination.
func (j *job) isRunning() (to protocol.NodeID, yes bool) {
	j.live.mu.Lock()
	defer j.live.mu.Unlock()
	return j.live.row.To, (j.cancel != nil || j.ordered == eventStart) && !j.live.needsApproval
}

// canStart reports whether an attempt can begin, and whether the transfer has waited for too long.
func (j *job) canStart(now time.Time) (to protocol.NodeID, ready, expired bool) {
	j.live.mu.Lock()
	defer j.live.mu.Unlock()
	t := j.live.row.Transfer
	if j.cancel != nil || j.ordered != "" || t.State != queued && t.State != waiting {
		return t.To, false, false
	}
	expired = j.live.isExpiredLocked(now)
	return t.To, !expired && j.services.ends.waitReason(t, j.live.window) == "", expired
}

// expiredText is the error of an expired transfer.
const expiredText = "It expired: the machine did not come back in time"
