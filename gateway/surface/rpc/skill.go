package rpc

import (
	"context"

	"fairlead/gateway/protocol"
)

// Skills manages the agents' skills.
type Skills interface {
	Status(ctx context.Context, in protocol.SkillsParams) (protocol.SkillsStatusResult, error)
	Update(ctx context.Context, in protocol.SkillsParams) (protocol.SkillsStatusResult, error)
	Enable(ctx context.Context, in protocol.SkillsEnableParams) (protocol.OK, error)
}

// skills registers the methods of the protocol for skills, and our extension.
func (s *Server) skills(all map[string]handler) {
	handle(all, protocol.SkillsStatus, plain(s.s.Skills.Status))
	handle(all, protocol.SkillsUpdate, plain(s.s.Skills.Update))
	handle(all, protocol.SkillsEnable, plain(s.s.Skills.Enable))
}
