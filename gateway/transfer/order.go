package transfer

import (
	"time"

	"fairlead/gateway/protocol"
)

// notify makes the owner look at what the queue has ordered, and whether it may leave.
func (j *job) notify() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// obeyLater orders an event for which the queue does not wait.
func (j *job) obeyLater(e eventKind) {
	j.mu.Lock()
	j.ordered = e
	j.mu.Unlock()
	j.notify()
}

// revoke stops the job and makes its transfer fail, if isMeant is true for the transfer.
func (j *job) revoke(why string, isMeant func(protocol.Transfer) bool) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !isMeant(j.row.Transfer) {
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
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.row.To, (j.cancel != nil || j.ordered == eventStart) && !j.needsApproval
}

// canStart reports whether an attempt can begin, and whether the transfer has waited for too long.
func (j *job) canStart(now time.Time) (to protocol.NodeID, ready, expired bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	t := j.row.Transfer
	if j.cancel != nil || j.ordered != "" || t.State != queued && t.State != waiting {
		return t.To, false, false
	}
	expired = j.isExpiredLocked(now)
	return t.To, !expired && j.services.ends.waitReason(t, j.window) == "", expired
}

// expiredText is the error of an expired transfer.
const expiredText = "It expired: the machine did not come back in time"

// isExpiredLocked reports whether a job has waited for too long. It checks the wall clock, which
// advances while the machine sleeps or the gateway is off, and the monotonic clock, which nobody
// can set back. The caller must hold j.mu.
func (j *job) isExpiredLocked(now time.Time) bool {
	if j.row.ExpiresAt == 0 {
		return false
	}
	left := time.UnixMilli(j.row.ExpiresAt).Sub(now)
	if j.expiryOf != j.row.ExpiresAt {
		j.expiryOf, j.monotonicExpiry = j.row.ExpiresAt, now.Add(left)
	}
	return left <= 0 || !now.Before(j.monotonicExpiry)
}
