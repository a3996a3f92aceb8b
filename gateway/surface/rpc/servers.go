package rpc

import (
	"fairlead/gateway/protocol"
	"fairlead/gateway/servers"
)

func registerServers(all methods, s *servers.Manager) {
	handle(all, protocol.ServersList, query(s.List))
	handle(all, protocol.ServerSet, plain(s.Set))
	handle(all, protocol.ServerRemove, plain(s.Remove))
	handle(all, protocol.ServerRestart, plain(s.Restart))
	handle(all, protocol.ServersParse, plain(s.Parse))
	handle(all, protocol.ServersFind, query(s.Find))
	handle(all, protocol.ServerLogs, plain(s.Logs))
	handle(all, protocol.ServerSignInURL, plain(s.SignIn))
	handle(all, protocol.ServerItems, query(s.Items))
	handle(all, protocol.ServerRead, plain(s.Read))
}
