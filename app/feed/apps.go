package feed

import (
	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// ConnectedApps has the connected apps, and those that ask to connect.
type ConnectedApps struct {
	protocol.AppsListResult
	Loaded  bool
	Problem string // reason why loading failed
}

// App finds a connected app.
func (c ConnectedApps) App(id protocol.AppID) (protocol.App, bool) {
	return lists.Find(c.Apps, func(a protocol.App) bool { return a.ID == id })
}

// LoadApps loads the connected apps again.
func (f *Feed) LoadApps() {
	refresh(f, &f.appLoads, f.Apps, protocol.AppsList, func(c *ConnectedApps, r protocol.AppsListResult, err error) {
		if err != nil { // a lost connection does not remove apps
			c.Problem = Sentence(err)
			return
		}
		*c = ConnectedApps{AppsListResult: r, Loaded: true}
	})
}
