package rpc

import "fairlead/gateway/protocol"

func (s *Server) devices(all map[string]handler) {
	handle(all, protocol.NodeForget, plain(s.s.Nodes.Forget))
	handle(all, protocol.NodesUpdate, plain(s.s.Nodes.Update))
}
