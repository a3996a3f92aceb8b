package skills

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/workspace"
)

// Files lists the files of skills.
type Files interface {
	Skills(agent protocol.AgentID) ([]workspace.SkillFile, error)
}

// Options configure a catalog. All fields but Has and HasVariable are required.
type Options struct {
	Files  Files
	Nodes  func() []protocol.NodeInfo
	Config func() config.Config
	// Has reports whether a machine has a program, and whether that is known; nil means that
	// nothing is known.
	Has func(node protocol.NodeID, program string) (has, known bool)
	// HasVariable is the same for environment variables of its commands.
	HasVariable func(node protocol.NodeID, name string) (has, known bool)
	// Set changes the configuration.
	Set func(ctx context.Context, path string, value json.RawMessage) error
}

// Catalog holds the skills of every agent. It is safe for concurrent use. Unless changes are
// reported to it (see Watched), it reads the files each time.
type Catalog struct {
	o Options

	mu      sync.Mutex // guards the fields below
	watched bool
	// incremented when the cache is cleared, so that older results are not cached afterwards
	generation int
	agents     map[protocol.AgentID]agentSkills
}

// agentSkills holds the skills of an agent.
type agentSkills struct {
	skills []locatedSkill
	at     time.Time
}

// locatedSkill is a skill with its location.
type locatedSkill struct {
	Skill
	location, source string
}

// New returns a catalog.
func New(o Options) *Catalog { return &Catalog{o: o, agents: make(map[protocol.AgentID]agentSkills)} }

// Watched sets whether Changed is called for every change from now on. It clears the cache.
func (c *Catalog) Watched(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watched = on
	c.generation++
	clear(c.agents)
}

// Changed takes the changed paths, relative to the data folder, and reports whether skills were
// among them.
func (c *Catalog) Changed(paths []string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	any := false
	for _, p := range paths {
		parts := strings.Split(p, "/")
		switch {
		case parts[0] == "skills" || parts[0] == "agents" && len(parts) == 1:
			clear(c.agents)
			any = true
		case parts[0] == "agents" && (len(parts) == 2 || parts[2] == "skills"):
			delete(c.agents, protocol.AgentID(parts[1]))
			any = true
		}
	}
	if any {
		c.generation++
	}
	return any
}

// load returns the agent's skills, sorted by name. It reads files if the cache is empty.
func (c *Catalog) load(agent protocol.AgentID) (agentSkills, error) {
	c.mu.Lock()
	have, ok := c.agents[agent]
	turn := c.generation
	c.mu.Unlock()
	if ok {
		return have, nil
	}
	files, err := c.o.Files.Skills(agent)
	if err != nil {
		return agentSkills{}, err
	}
	s := agentSkills{at: time.Now()}
	for _, f := range files {
		skill := Parse(f.Dir, f.Data)
		if f.Problem != "" {
			skill.Problems = append(skill.Problems, f.Problem)
		}
		s.skills = append(s.skills, locatedSkill{skill, f.Location, f.Source})
	}
	slices.SortStableFunc(s.skills, func(a, b locatedSkill) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watched && c.generation == turn {
		c.agents[agent] = s
	}
	return s, nil
}

// Status returns which skills an agent has and whether they can be used now (skills.status).
func (c *Catalog) Status(_ context.Context, in protocol.SkillsParams) (protocol.SkillsStatusResult, error) {
	agent, err := protocol.ParseAgentID(in.AgentID)
	if err != nil {
		return protocol.SkillsStatusResult{}, err
	}
	in.AgentID = agent
	s, err := c.load(agent)
	if err != nil {
		return protocol.SkillsStatusResult{}, err
	}
	res := protocol.SkillsStatusResult{AgentID: in.AgentID, RefreshedAt: s.at.UnixMilli(), Nodes: []protocol.SkillNodeStatus{}, Skills: []protocol.SkillStatusEntry{}}
	nodes := c.o.Nodes()
	for _, n := range nodes {
		caps := slices.Clone(n.Caps)
		if caps == nil {
			caps = []string{}
		}
		res.Nodes = append(res.Nodes, protocol.SkillNodeStatus{NodeID: n.ID, Online: n.Online, HostCapabilities: caps})
	}
	settings := c.o.Config().Skills.Entries
	for _, f := range s.skills {
		e := statusOf(f, setting(settings, f), nodes, machineFacts{c.o.Has, c.o.HasVariable})
		e.SettingsKey = settingsKey(settings, f)
		res.Skills = append(res.Skills, e)
	}
	return res, nil
}

// Update reads the skill files again (skills.update).
func (c *Catalog) Update(ctx context.Context, in protocol.SkillsParams) (protocol.SkillsStatusResult, error) {
	c.mu.Lock()
	c.generation++
	clear(c.agents)
	c.mu.Unlock()
	return c.Status(ctx, in)
}

// Enable turns a skill of the main agent on or off by its name or folder.
func (c *Catalog) Enable(ctx context.Context, in protocol.SkillsEnableParams) (protocol.OK, error) {
	if in.Name == "" {
		return protocol.OK{}, protocol.ErrBadRequest.With("name required")
	}
	s, err := c.load(protocol.MainAgent)
	if err != nil {
		return protocol.OK{}, err
	}
	i := slices.IndexFunc(s.skills, func(f locatedSkill) bool { return strings.EqualFold(f.Name, in.Name) || f.Dir == in.Name })
	if i < 0 {
		return protocol.OK{}, protocol.ErrNotFound.With(fmt.Sprintf("There is no skill %q.", in.Name))
	}
	key := settingsKey(c.o.Config().Skills.Entries, s.skills[i])
	if key == "" {
		return protocol.OK{}, protocol.ErrBadRequest.With(fmt.Sprintf("Settings of %q cannot be stored: its name and its folder contain a dot.", in.Name))
	}
	value := json.RawMessage("false")
	if in.Enabled {
		value = json.RawMessage("true")
	}
	return protocol.OK{OK: true}, c.o.Set(ctx, "skills.entries."+key+".enabled", value)
}

// settingKeys returns the names under which a setting of a skill may be stored, in lookup order,
// which is that of the original system.
func settingKeys(f locatedSkill) []string {
	return []string{f.Name, path.Base(f.Dir), f.Dir, f.location}
}

// settingsKey returns the key of a skill's settings; empty if every name of the skill contains a
// dot, which a path cannot hold.
func settingsKey(entries map[string]config.Skill, f locatedSkill) string {
	key := ""
	for _, k := range settingKeys(f) {
		if _, ok := entries[k]; ok && !strings.Contains(k, ".") {
			return k
		}
		if key == "" && !strings.Contains(k, ".") {
			key = k
		}
	}
	return key
}

func setting(entries map[string]config.Skill, f locatedSkill) config.Skill {
	for _, k := range settingKeys(f) {
		if s, ok := entries[k]; ok {
			return s
		}
	}
	return config.Skill{}
}
