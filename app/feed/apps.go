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
