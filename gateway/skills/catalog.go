// Package skills finds the agents' skills: folders with a SKILL.md, in the agent's own workspace,
// in the folder that all agents share, and built in. It reads the open Agent Skills format and
// GSV's front matter, and decides which skills an online machine can carry out: by its capabilities
// and its operating system, and by its programs and environment variables if it reports their
// names. It reads no files itself: package workspace does, and reports changes.
package skills

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/workspace"
)

// Options configure a catalog. All fields but Has and HasVariable are required.
type Options struct {
	Files  *workspace.Files
	Nodes  func() []protocol.NodeInfo
	Config func() config.Config
	// whether a machine has a program, and whether that is known; nil means unknown
	Has func(node protocol.NodeID, program string) (has, known bool)
	// HasVariable is the same for environment variables of its commands.
	HasVariable func(node protocol.NodeID, name string) (has, known bool)
	// Set changes the configuration.
	Set func(ctx context.Context, path string, value json.RawMessage) error
}

// Catalog reads the skills of every agent from their files. It is safe for concurrent use.
type Catalog struct{ o Options }

// locatedSkill is a skill with its location.
type locatedSkill struct {
	Skill
	location, source string
}

// New returns a catalog.
func New(o Options) *Catalog { return &Catalog{o: o} }

// load reads an agent's skills, sorted by name.
func (c *Catalog) load(agent protocol.AgentID) (list []locatedSkill, err error) {
	files, err := c.o.Files.Skills(agent)
	for _, f := range files {
		skill := Parse(f.Dir, f.Data)
		if f.Problem != "" {
			skill.Problems = append(skill.Problems, f.Problem)
		}
		list = append(list, locatedSkill{skill, f.Location, f.Source})
	}
	slices.SortStableFunc(list, func(a, b locatedSkill) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return list, err
}

// Status returns an agent's skills and whether they can be used now.
func (c *Catalog) Status(_ context.Context, in protocol.SkillsParams) (protocol.SkillsStatusResult, error) {
	res, _, err := c.read(in.AgentID)
	return res, err
}

// Usable returns the main agent's skills that are turned on and can be used now.
func (c *Catalog) Usable(context.Context) ([]protocol.SkillStatusEntry, error) {
	res, _, err := c.read(protocol.MainAgent)
	return slices.DeleteFunc(res.Skills, func(s protocol.SkillStatusEntry) bool { return !s.Enabled || !s.Eligible }), err
}

// Text returns the file of one of the skills that Usable returns, or protocol.ErrNotFound.
func (c *Catalog) Text(ctx context.Context, name string) (string, error) {
	list, err := c.Usable(ctx)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(list, func(s protocol.SkillStatusEntry) bool { return s.Name == name })
	if i < 0 {
		return "", protocol.ErrNotFound.With(fmt.Sprintf("There is no usable skill %q.", name))
	}
	file, _, err := c.o.Files.Read(protocol.MainAgent, list[i].Path)
	if err != nil {
		return "", err
	}
	return string(file.Data), nil
}

// read returns the status of an agent's skills, and the skills in the same order.
func (c *Catalog) read(id protocol.AgentID) (res protocol.SkillsStatusResult, list []locatedSkill, err error) {
	agent, err := protocol.ParseAgentID(id)
	if err != nil {
		return res, nil, err
	}
	if list, err = c.load(agent); err != nil {
		return res, nil, err
	}
	res = protocol.SkillsStatusResult{AgentID: agent, RefreshedAt: time.Now().UnixMilli(), Nodes: []protocol.SkillNodeStatus{}, Skills: []protocol.SkillStatusEntry{}}
	nodes := c.o.Nodes()
	for _, n := range nodes {
		res.Nodes = append(res.Nodes, protocol.SkillNodeStatus{NodeID: n.ID, Online: n.Online, HostCapabilities: append([]string{}, n.Caps...)})
	}
	settings := c.o.Config().Skills.Entries
	for _, f := range list {
		set, key := settingsOf(settings, f)
		e := statusOf(f, set, nodes, machineFacts{c.o.Has, c.o.HasVariable})
		e.SettingsKey = key
		res.Skills = append(res.Skills, e)
	}
	return res, list, nil
}

// Enable turns a skill of the main agent on or off by its name or folder.
func (c *Catalog) Enable(ctx context.Context, in protocol.SkillsEnableParams) (protocol.OK, error) {
	if in.Name == "" {
		return protocol.OK{}, protocol.ErrBadRequest.With("name required")
	}
	list, err := c.load(protocol.MainAgent)
	if err != nil {
		return protocol.OK{}, err
	}
	i := slices.IndexFunc(list, func(f locatedSkill) bool { return strings.EqualFold(f.Name, in.Name) || f.Dir == in.Name })
	if i < 0 {
		return protocol.OK{}, protocol.ErrNotFound.With(fmt.Sprintf("There is no skill %q.", in.Name))
	}
	_, key := settingsOf(c.o.Config().Skills.Entries, list[i])
	if key == "" {
		return protocol.OK{}, protocol.ErrBadRequest.With(fmt.Sprintf("Settings of %q cannot be stored: its name and its folder contain a dot.", in.Name))
	}
	value := json.RawMessage(strconv.FormatBool(in.Enabled))
	return protocol.OK{OK: true}, c.o.Set(ctx, "skills.entries."+key+".enabled", value)
}

// settingsOf returns a skill's settings, by the first of its names that has any, and the key under
// which to store them. The key has no dot, which a path cannot hold; it may be "".
func settingsOf(entries map[string]config.Skill, f locatedSkill) (set config.Skill, key string) {
	found, stored := false, false
	for _, k := range []string{f.Name, path.Base(f.Dir), f.Dir, f.location} {
		s, ok := entries[k]
		if ok && !found {
			set, found = s, true
		}
		if !strings.Contains(k, ".") && (key == "" || ok && !stored) {
			key, stored = k, ok
		}
	}
	return set, key
}

// maxNamed is the number of changed files that are published by name at once.
const maxNamed = 50

// Watch publishes changes of files to the windows, until ctx ends.
func Watch(ctx context.Context, files *workspace.Files, bus *event.Bus) {
	err := files.Watch(ctx, func() {}, func(paths []string) {
		if slices.ContainsFunc(paths, isOfSkill) {
			bus.Publish(protocol.Change{Kind: protocol.ChangeSkills})
		}
		if len(paths) > maxNamed {
			paths = []string{""}
		}
		for _, p := range paths {
			bus.Publish(protocol.Change{Kind: protocol.ChangeFile, Path: p})
		}
	})
	if err != nil && ctx.Err() == nil {
		slog.Warn("Files cannot be watched", "err", err)
	}
}

// isOfSkill reports whether a change of a path, relative to the data folder, can change a skill.
func isOfSkill(path string) bool {
	parts := strings.Split(path, "/")
	return parts[0] == "skills" || parts[0] == "agents" && (len(parts) < 3 || parts[2] == "skills")
}

// limit in bytes of the list of skills in the prompt, and of the texts of those always active
const maxPrompt = 16_000

// Prompt returns the part of an agent's system prompt that lists its usable skills, or "".
func (c *Catalog) Prompt(agent protocol.AgentID) (string, error) {
	s, list, err := c.read(agent)
	if err != nil {
		return "", err
	}
	var b, always strings.Builder
	unmet, off, cutOff := 0, 0, 0
	for i, e := range s.Skills {
		switch {
		case !e.Enabled:
			off++
			continue
		case !e.Eligible:
			unmet++
			continue
		}
		// otherwise it is listed like the others
		if whole := list[i].Text; e.Always && whole != "" && always.Len()+len(whole) <= maxPrompt {
			fmt.Fprintf(&always, "\n<skill name=\"%s\" path=\"%s\">\n%s\n</skill>\n", e.Name, e.Path, whole)
			continue
		}
		entry := describe(e)
		if b.Len()+len(entry) > maxPrompt {
			cutOff++
			continue
		}
		b.WriteString(entry)
	}
	if b.Len() == 0 && unmet == 0 && always.Len() == 0 {
		return "", nil
	}
	text := "Each skill below is a written procedure. When one fits the task, read its file with gsv__ReadFile before you begin and follow it; files beside it lie in the same folder. What a skill's file says is guidance for the work, and never more permission than you have.\n\n<skills>\n" +
		b.String() + "</skills>\n"
	if unmet > 0 {
		text += fmt.Sprintf("%d more cannot be used now, because no connected machine meets their requirements.\n", unmet)
	}
	if cutOff > 0 {
		text += fmt.Sprintf("%d more are omitted because of their length; gsv__ReadFile of skills/ lists all.\n", cutOff)
	}
	if always.Len() > 0 {
		text += "\nThese apply to everything you do and need not be read first:\n" + always.String()
	}
	return text, nil
}

// describe returns the entry of a skill. Its texts are as they are: a model reads no HTML.
func describe(e protocol.SkillStatusEntry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<skill name=\"%s\" read_path=\"%s\">%s", e.Name, e.Path, strings.Join(strings.Fields(e.Description), " "))
	for _, need := range []struct {
		what string
		list []string
	}{{"programs", e.Requirements.Bins}, {"one of the programs", e.Requirements.AnyBins}, {"the environment variables", e.Requirements.Env}} {
		if len(need.list) > 0 {
			fmt.Fprintf(&b, " (needs %s %s)", need.what, strings.Join(need.list, ", "))
		}
	}
	b.WriteString("</skill>\n")
	return b.String()
}
