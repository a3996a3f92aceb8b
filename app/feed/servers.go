package feed

import (
	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// ServerList has the MCP servers.
type ServerList struct {
	protocol.ServersListResult
	Loaded  bool
	Problem string // reason why loading failed
}

// Server finds an MCP server.
func (l ServerList) Server(name protocol.ServerName) (protocol.ServerStatus, bool) {
	return lists.Find(l.Servers, func(s protocol.ServerStatus) bool { return s.Name == name })
}

// LoadServers loads the MCP servers again.
func (f *Feed) LoadServers() {
	refresh(f, &f.serverLoads, f.Servers, protocol.ServersList, func(l *ServerList, r protocol.ServersListResult, err error) {
		if err != nil { // a lost connection does not remove servers
			l.Problem = Sentence(err)
			return
		}
		*l = ServerList{ServersListResult: r, Loaded: true}
	})
}
