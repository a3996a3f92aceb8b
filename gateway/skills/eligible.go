package skills

import (
	"cmp"
	"slices"
	"strings"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// statusOf decides whether a skill can be used now, by the rules and in the words of GSV: one
// single online machine must meet every requirement.
func statusOf(f locatedSkill, set config.Skill, nodes []protocol.NodeInfo, has machineFacts) protocol.SkillStatusEntry {
	e := protocol.SkillStatusEntry{
		Name: f.Name, Description: f.Description, Location: f.location, Always: f.Always, EligibleHosts: []protocol.NodeID{},
		Reasons: []string{}, Requirements: f.Needs, Source: f.source, Path: "skills/" + f.Dir + "/SKILL.md", Enabled: true,
		Homepage: f.Homepage, License: f.License, Compatibility: f.Compatibility, Problems: f.Problems,
	}
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
	if f.Unread {
		e.Reasons = append(e.Reasons, "its file is not UTF-8")
	}
	online := 0
	for _, n := range nodes {
		if !n.Online {
			continue
		}
		online++
		if lacks := missingOn(n, e.Requirements, has); len(lacks) > 0 && len(e.Missing) < protocol.MaxSkillMissing {
			e.Missing = append(e.Missing, protocol.SkillMissing{NodeID: n.ID, Lacks: lacks})
		} else if len(lacks) == 0 && len(invalid) == 0 {
			e.EligibleHosts = append(e.EligibleHosts, n.ID)
		}
	}
	r := e.Requirements
	needs := len(r.Capabilities)+len(r.OS)+len(r.Bins)+len(r.AnyBins)+len(r.Env) > 0
	switch {
	case e.Always:
	case len(invalid) > 0:
		e.Reasons = append(e.Reasons, "invalid requirement identifiers: "+strings.Join(invalid, ", "))
	case !needs:
	case online == 0:
		e.Reasons = append(e.Reasons, "no connected hosts")
	case len(e.EligibleHosts) > 0:
	default:
		e.Reasons = append(e.Reasons, unmetRequirements(nodes, r, has)...)
	}
	e.Eligible = len(e.Reasons) == 0
	return e
}

// unmetRequirements returns the requirements that no online machine meets. If each is met by some
// machine, but no machine meets all, it returns all of them.
func unmetRequirements(nodes []protocol.NodeInfo, r protocol.SkillRequirementSnapshot, has machineFacts) (reasons []string) {
	type requirements = protocol.SkillRequirementSnapshot
	var all []string
	for _, need := range []struct {
		kind, separator string
		names           []string
		alone           requirements
	}{
		{"capabilities", ", ", r.Capabilities, requirements{Capabilities: r.Capabilities}},
		{"system", " or ", r.OS, requirements{OS: r.OS}},
		{"programs", ", ", r.Bins, requirements{Bins: r.Bins}},
		{"one of the programs", ", ", r.AnyBins, requirements{AnyBins: r.AnyBins}},
		{"environment variables", ", ", r.Env, requirements{Env: r.Env}},
	} {
		if len(need.names) == 0 {
			continue
		}
		reason := "requires " + need.kind + ": " + strings.Join(need.names, need.separator)
		all = append(all, reason)
		if !slices.ContainsFunc(nodes, func(n protocol.NodeInfo) bool { return n.Online && len(missingOn(n, need.alone, has)) == 0 }) {
			reasons = append(reasons, reason)
		}
	}
	if len(reasons) == 0 {
		return all
	}
	return reasons
}

// lookup reports whether a machine has something, and whether that is known; nil knows nothing.
type lookup func(node protocol.NodeID, name string) (has, known bool)

// lacks reports whether a machine is known not to have something. Paths are not known.
func (l lookup) lacks(node protocol.NodeID, name string) bool {
	if l == nil || strings.ContainsAny(name, `/\`) {
		return false
	}
	has, known := l(node, name)
	return known && !has
}

// machineFacts are the lookups of what machines report.
type machineFacts struct{ program, variable lookup }

// missingOn returns the requirements of a skill that a machine is known not to meet. A machine that
// does not report its platform or features, such as a node without extensions, may be anything.
func missingOn(n protocol.NodeInfo, r protocol.SkillRequirementSnapshot, has machineFacts) (list []string) {
	for _, c := range r.Capabilities {
		if !slices.Contains(n.Caps, c) {
			list = append(list, "the capability "+c)
		}
	}
	for _, b := range r.Bins {
		if has.program.lacks(n.ID, b) {
			list = append(list, "the program "+b)
		}
	}
	if len(r.AnyBins) > 0 && !slices.ContainsFunc(r.AnyBins, func(b string) bool { return !has.program.lacks(n.ID, b) }) {
		list = append(list, "one of the programs "+strings.Join(r.AnyBins, ", "))
	}
	for _, v := range r.Env {
		if has.variable.lacks(n.ID, v) {
			list = append(list, "the environment variable "+v)
		}
	}
	here := osName(n.Platform)
	if len(r.OS) > 0 && here != "" && !slices.ContainsFunc(r.OS, func(os string) bool { return osName(os) == here }) {
		list = append(list, "the system "+strings.Join(r.OS, " or "))
	}
	return list
}

// osName normalizes the name of an operating system: linux, macos, windows, or the given name.
func osName(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(name)), "-")
	return cmp.Or(osNames[name], name)
}

var osNames = map[string]string{"darwin": "macos", "mac": "macos", "osx": "macos", "win32": "windows", "win": "windows"}
