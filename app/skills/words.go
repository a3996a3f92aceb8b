package skills

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// stateWords describes in a word whether a skill can be used now, and why not.
func stateWords(e protocol.SkillStatusEntry) (word, why string) {
	switch {
	case !e.Enabled:
		return "off", "Turned off: the agent does not know about it."
	case e.Eligible:
		return "ready", ""
	}
	reasons := lists.Map(e.Reasons, func(r string) string {
		long, _ := skillReason(r)
		return long
	})
	return "unavailable", strings.Join(reasons, " ")
}

// skillReason translates one of the gateway's reasons, to a sentence and to a few words for a list.
func skillReason(r string) (long, short string) {
	if what, ok := strings.CutPrefix(r, "requires "); ok {
		return "No online machine has what it needs (" + what + ").", "needs " + what
	}
	ids, unknown := strings.CutPrefix(r, "invalid requirement identifiers: ")
	switch {
	case ids == "metadata":
		return "The settings at the top of its SKILL.md cannot be read, so its requirements are unknown. Correct them.", "requirements unknown"
	case unknown:
		return "It requires unknown capabilities: " + ids + ". Correct the settings at the top of its SKILL.md, or set its requirements below.", "requirements unknown"
	case r == "no connected hosts":
		return "It needs a machine, and none is online.", "no machine is online"
	case strings.HasPrefix(r, "its file "):
		short = r
	}
	return format.Capital(r), short
}

// lack describes briefly why a skill cannot be used now, for a list.
func lack(e protocol.SkillStatusEntry) string {
	list := lists.Map(e.Reasons, func(r string) string {
		_, short := skillReason(r)
		return short
	})
	return format.Capital(wording.Join(", ", list...))
}

// source describes a skill's origin.
func source(e protocol.SkillStatusEntry) string {
	sources := map[string]string{
		protocol.SkillAgent: "the agent's own", protocol.SkillGlobal: "shared by all agents", protocol.SkillBuiltIn: "included with Fairlead",
	}
	return cmp.Or(sources[e.Source], e.Source)
}

// needsOf describes what a skill requires of a machine; empty for nothing.
func needsOf(r protocol.SkillRequirementSnapshot) []string {
	var list []string
	add := func(words string, names []string, sep string) {
		if len(names) > 0 {
			list = append(list, words+": "+strings.Join(names, sep))
		}
	}
	add("Capabilities", r.Capabilities, ", ")
	add("Programs", r.Bins, ", ")
	add("One of the programs", r.AnyBins, ", ")
	add("System", r.OS, " or ")
	add("Environment variables", r.Env, ", ")
	return list
}

// machine describes whether a machine can run a skill.
type machine struct {
	Name string // display name
	Fits bool
	Text string
}

// machinesOf returns that for each known machine.
func machinesOf(e protocol.SkillStatusEntry, v View) []machine {
	return lists.Map(v.Nodes, func(n protocol.SkillNodeStatus) machine {
		m := machine{Name: cmp.Or(v.Names[n.NodeID], string(n.NodeID)), Text: "cannot run it"}
		missing, lacks := lists.Find(e.Missing, func(m protocol.SkillMissing) bool {
			return m.NodeID == n.NodeID && len(m.Lacks) > 0
		})
		switch {
		case !n.Online:
			m.Text = "is offline"
		case lacks:
			m.Text = "lacks " + strings.Join(missing.Lacks, ", ")
		case slices.Contains(e.EligibleHosts, n.NodeID):
			m.Fits, m.Text = true, "can run it"
		}
		return m
	})
}

// find returns the skills that have every word of a query.
func find(list []protocol.SkillStatusEntry, query string) []protocol.SkillStatusEntry {
	return lists.Without(list, func(e protocol.SkillStatusEntry) bool {
		word, _ := stateWords(e)
		return !wording.Matches(strings.Join([]string{e.Name, e.Description, source(e), e.Location, word}, " "), query)
	})
}

// newSkill has the fields of the form for a new skill.
type newSkill struct {
	Name string
	When string // its description: purpose and occasion
	Caps []string
}

// SkillFolder derives a folder name, as the Agent Skills format requires, from a typed name.
func SkillFolder(name string) string { return wording.Slug(name, "") }

func (n newSkill) parts() (folder, text string, err error) {
	if folder = SkillFolder(n.Name); folder == "" {
		return "", "", errors.New("a skill needs a name of Latin letters or digits, such as release-notes")
	}
	when := strings.Join(strings.Fields(n.When), " ")
	switch {
	case when == "":
		return "", "", errors.New("describe in a sentence what the skill does and when to use it: at first the agent sees nothing else of it")
	case utf8.RuneCountInString(when) > 1024:
		return "", "", errors.New("the description can have up to 1024 characters; put the rest into the text")
	}
	description, err := protocol.Marshal(when) // JSON is valid YAML
	if err != nil {
		return "", "", err
	}
	metadata := ""
	if len(n.Caps) > 0 {
		caps, err := protocol.Marshal(n.Caps)
		if err != nil {
			return "", "", err
		}
		metadata = fmt.Sprintf("metadata: {\"fairlead\": {\"requires\": {\"capabilities\": %s}}}\n", caps)
	}
	title := format.Capital(strings.Join(strings.Fields(n.Name), " "))
	return folder, fmt.Sprintf(skillTemplate, folder, description, metadata, title), nil
}

const skillTemplate = `---
name: %s
description: %s
%s---

# %s

What a good result looks like, in a sentence or two.

## Steps

1. First step: what to do, and how to see that it worked.
2. Second step.
3. Tell the person what was done, and what was not.

## Never

- What must never happen, even on request.

## Example

A request as the person would say it, and the answer it should lead to.
`
