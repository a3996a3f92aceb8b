package stream

import "sync/atomic"

const (
	// sharedWindow is the number of bytes in flight of all transfers on a connection together, if
	// there are several. More bytes would wait in the system's buffers, where they delay calls and
	// their results. minWindow is the minimum for each: a frame, and what is sent before the next
	// credit.
	sharedWindow = 4 << 20
	minWindow    = 128 << 10
	// sharedBody is the maximum length of a frame when several transfers share the connection.
	sharedBody = 64 << 10
)

// Share divides a connection among its outgoing transfers in equal parts. The zero Share is ready.
// It is safe for concurrent use.
type Share struct{ running atomic.Int32 }

// isShared reports whether there is more than one transfer.
func (s *Share) isShared() bool { return s != nil && s.running.Load() > 1 }

// window returns the number of bytes that a transfer may have in flight.
func (s *Share) window() int {
	if !s.isShared() {
		return Window
	}
	return min(Window, max(minWindow, sharedWindow/int(s.running.Load())))
}

// maxFrame returns the maximum length of the next frame's body, which is limited because calls and
// their results are sent between frames.
func (s *Share) maxFrame() int {
	if s.isShared() {
		return sharedBody
	}
	return maxBody
}
