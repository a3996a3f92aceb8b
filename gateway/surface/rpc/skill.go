package rpc

import (
	"fairlead/gateway/protocol"
	"fairlead/gateway/skills"
)

// registerSkills registers the methods of the protocol for skills, and our extension.
func registerSkills(all methods, s *skills.Catalog) {
	handle(all, protocol.SkillsStatus, plain(s.Status))
	handle(all, protocol.SkillsUpdate, plain(s.Update))
	handle(all, protocol.SkillsEnable, plain(s.Enable))
}
