package feed

import (
	"slices"
	"strings"

	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// Exposures are the ways in to the gateway.
type Exposures struct {
	List    []protocol.Exposure
	Loaded  bool
	Problem string // reason why loading failed
}

// WaysIn loads the ways in.
type WaysIn struct {
	feed  *Feed
	loads requests
}

// Load loads the ways in again.
func (w *WaysIn) Load() {
	refresh(w.feed, &w.loads, w.feed.Exposures, protocol.ExposureList, func(e *Exposures, r protocol.ExposureListResult, err error) {
		if err != nil { // a lost connection closes nothing
			e.Problem = Sentence(err)
			return
		}
		*e = Exposures{List: r.Exposures, Loaded: true}
	})
}

// mayChange reports whether a change may open or close a way in. Forwards, which change each second
// while they are used, are left to those who show them.
func (w *WaysIn) mayChange(c protocol.Change) bool {
	switch c.Kind {
	case protocol.ChangeServices, protocol.ChangeDevices, protocol.ChangeApps, protocol.ChangeChannels, protocol.ChangeRules:
		return true
	case protocol.ChangeConfig:
		top, _, _ := strings.Cut(c.Path, ".")
		return slices.Contains([]string{"network", "channels", "toolApproval", "services"}, top)
	case protocol.ChangeSession:
		if c.Session == nil || c.Session.Settings == nil {
			return false
		}
		id := protocol.ExposureGrant + ":" + string(c.SessionKey)
		_, listed := lists.Find(w.feed.Exposures.Get().List, func(e protocol.Exposure) bool { return e.ID == id })
		mode := c.Session.Settings.Approvals
		return listed != (mode != nil && mode.Mode == protocol.ModeTrust)
	}
	return false
}
