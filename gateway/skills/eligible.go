package skills

import (
	"slices"
	"strings"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// judge decides whether a skill can be used now, by the original's rules (gsv interop notes 9.1): one single machine that is online must have
// everything. Reasons of those the original has are in its words.
func judge(f found, set config.Skill, nodes []protocol.NodeInfo) protocol.SkillStatusEntry {
	e := protocol.SkillStatusEntry{Name: f.Name, Description: f.Description, Location: f.location, Always: f.Always, EligibleHosts: []protocol.NodeID{},
		Reasons: []string{}, Requirements: f.Needs, Source: f.source, Path: "skills/" + f.Dir + "/SKILL.md", Enabled: true,
		Homepage: f.Homepage, License: f.License, Compatibility: f.Compatibility, Problems: f.Problems}
	invalid := f.Invalid
	if set.Always != nil {
		e.Always = *set.Always
	}
	if set.Requires != nil {
		e.Requirements.Capabilities = append([]string{}, set.Requires.Capabilities...)
		invalid = unknown(set.Requires.Capabilities)
	}
	if set.Enabled != nil && !*set.Enabled {
		e.Enabled = false
		e.Reasons = append(e.Reasons, "disabled by skills.entries policy")
	}
	online := 0
	for _, n := range nodes {
		if !n.Online {
			continue
		}
		online++
		if len(invalid) == 0 && meets(n, e.Requirements) {
			e.EligibleHosts = append(e.EligibleHosts, n.ID)
		}
	}
	needs := len(e.Requirements.Capabilities) > 0 || len(e.Requirements.OS) > 0
	switch {
	case e.Always:
	case len(invalid) > 0:
		e.Reasons = append(e.Reasons, "invalid requirement identifiers: "+strings.Join(invalid, ", "))
	case !needs:
	case online == 0:
		e.Reasons = append(e.Reasons, "no connected hosts")
	case len(e.EligibleHosts) > 0:
	default:
		if len(e.Requirements.Capabilities) > 0 {
			e.Reasons = append(e.Reasons, "requires capabilities: "+strings.Join(e.Requirements.Capabilities, ", "))
		}
		if len(e.Requirements.OS) > 0 {
			e.Reasons = append(e.Reasons, "requires system: "+strings.Join(e.Requirements.OS, " or "))
		}
	}
	e.Eligible = len(e.Reasons) == 0
	return e
}

// meets reports whether a machine has what a skill needs. A machine that does not say what it is may be anything.
func meets(n protocol.NodeInfo, r protocol.SkillRequirementSnapshot) bool {
	for _, c := range r.Capabilities {
		if !slices.Contains(n.Caps, c) {
			return false
		}
	}
	here := system(n.Platform)
	return len(r.OS) == 0 || here == "" || slices.ContainsFunc(r.OS, func(os string) bool { return system(os) == here })
}

// system is one spelling of an operating system's names: linux, macos, windows, or what was said.
func system(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(name)), "-")
	switch name {
	case "darwin", "mac", "osx":
		return "macos"
	case "win32", "win":
		return "windows"
	}
	return name
}
