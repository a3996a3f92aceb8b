// Package machine says in words whether a machine is connected, for its page and the sidebar. It knows
// no toolkit.
package machine

import (
	"fmt"
	"time"

	"fairlead/app/feed"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Presence describes whether a machine is online, and its latency.
func Presence(v feed.View, n protocol.NodeInfo, now time.Time) string {
	switch {
	case n.Online && n.Local && v.Status.Remote:
		return "the gateway's computer"
	case n.Online && n.Local:
		return "this computer"
	case n.Online && n.PingMs > 0 && n.PingMs < 1:
		return "under 1 ms"
	case n.Online && n.PingMs > 0:
		return fmt.Sprintf("%.0f ms", n.PingMs)
	case n.Online:
		return "online"
	}
	return LastSeen(n.LastSeenAt, now)
}

// Offline is a short text for a machine that is offline: since when, if that is a minute or more.
func Offline(n protocol.NodeInfo, now time.Time) string {
	if now.UnixMilli()-n.LastSeenAt < time.Minute.Milliseconds() || n.LastSeenAt == 0 {
		return "offline"
	}
	return format.Ago(n.LastSeenAt, now)
}

// LastSeen describes something that is offline.
func LastSeen(ms int64, now time.Time) string {
	if ms == 0 {
		return "never connected"
	}
	return "offline, last seen " + format.Ago(ms, now)
}
