package skills

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// View is the state of the page of skills.
type View struct {
	Loaded  bool
	Problem string                      // reason why loading failed
	Skills  []protocol.SkillStatusEntry // sorted by name
	Nodes   []protocol.SkillNodeStatus
	Names   map[protocol.NodeID]string // display names
	Set     map[string]Settings        // the person's overrides, by SettingsKey
	// Shown is the path of the skill with a loaded Text, without its front matter.
	Shown, Text, TextProblem string
}

// Settings are the overrides of one skill; nil uses the skill's own value.
type Settings struct {
	Enabled  *bool `json:"enabled"`
	Always   *bool `json:"always"`
	Requires *struct {
		Capabilities []string `json:"capabilities"`
	} `json:"requires"`
}

// Skill finds a skill by its path.
func (v View) Skill(path string) (protocol.SkillStatusEntry, bool) {
	return lists.Find(v.Skills, func(s protocol.SkillStatusEntry) bool { return s.Path == path })
}

// Model is the view model of the page of skills. Its methods are safe for concurrent use.
type Model struct{ feed.Loader[View] }

// newModel returns an empty view model; Follow loads it.
func newModel(f *feed.Feed) *Model {
	s := &Model{}
	s.Loader = feed.Loader[View]{
		Value: feed.NewValue(View{}), Feed: f, Fetch: s.fetchWith(protocol.SkillsStatus), Problem: func(v *View) *string { return &v.Problem },
		Facts: []feed.Fact{f.Changed, f.Status, f.Machines},
		Key: func(v feed.View) string {
			key := fmt.Sprint(v.Changed.Skills, v.Changed.Config, v.Status.Connected)
			for _, n := range v.Machines {
				key += fmt.Sprint(" ", n.ID, n.Online, n.Caps, n.DisplayName())
			}
			return key
		},
	}
	return s
}

// Reread makes the gateway read all files again.
func (s *Model) Reread() {
	s.Feed.Tasks.Start(func(ctx context.Context) { s.LoadWith(ctx, s.fetchWith(protocol.SkillsUpdate)) })
}

// fetchWith returns the fetch function of the loader with one of the methods that list the skills.
func (s *Model) fetchWith(m protocol.Method[protocol.SkillsParams, protocol.SkillsStatusResult]) func(context.Context) (func(*View), error) {
	return func(ctx context.Context) (func(*View), error) {
		r, err := feed.Call(ctx, s.Feed, m, protocol.SkillsParams{})
		if err != nil {
			return nil, err
		}
		set, _ := feed.ConfigAt[map[string]Settings](ctx, s.Feed, "skills.entries") // the list is useful without them
		names := map[protocol.NodeID]string{}
		for _, n := range s.Feed.Machines.Get() {
			names[n.ID] = n.DisplayName()
		}
		if shown := s.Value.Get().Shown; shown != "" {
			s.read(ctx, shown)
		}
		return func(v *View) {
			v.Loaded, v.Problem, v.Skills, v.Nodes, v.Names, v.Set = true, "", r.Skills, r.Nodes, names, set
		}, nil
	}
}

// Show loads the text of a skill; an empty path closes it.
func (s *Model) Show(path string) {
	s.Value.Update(func(v *View) { v.Shown, v.Text, v.TextProblem = path, "", "" })
	if path != "" {
		s.Feed.Tasks.StartRequest(func(ctx context.Context) { s.read(ctx, path) })
	}
}

func (s *Model) read(ctx context.Context, path string) {
	file, err := feed.Call(ctx, s.Feed, feed.ReadFile, protocol.WorkspaceReadParams{Path: path})
	s.Value.Update(func(v *View) {
		if v.Shown != path {
			return
		}
		v.Text, v.TextProblem = skillBody(file.Content), ""
		if err != nil {
			v.TextProblem = feed.Sentence(err)
		}
	})
}

// frontMatter is the head of a SKILL.md, by the gateway's rule.
var frontMatter = regexp.MustCompile(`\A---[ \t]*\n((?s:.*?)\n)??---[ \t]*(\n|\z)`)

// skillBody returns what follows the front matter.
func skillBody(text string) string {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n")
	if head := frontMatter.FindString(text); head != "" {
		return strings.TrimSpace(text[len(head):])
	}
	return text
}

// Enable turns a skill on or off, in the view at once, and returns a function that undoes it.
func (s *Model) Enable(e protocol.SkillStatusEntry, on bool) (undo func()) {
	enable := func(on bool) {
		s.Value.Update(func(v *View) {
			v.Skills = slices.Clone(v.Skills)
			for i := range v.Skills {
				if v.Skills[i].Path == e.Path {
					v.Skills[i].Enabled = on
				}
			}
		})
		s.Do(func(ctx context.Context) error {
			return feed.Send(ctx, s.Feed, protocol.SkillsEnable, protocol.SkillsEnableParams{Name: e.Name, Enabled: on})
		})
	}
	enable(on)
	return func() { enable(!on) }
}

// SetAlways sets whether the system prompt includes a skill's text; nil: as the skill says.
func (s *Model) SetAlways(e protocol.SkillStatusEntry, always *bool) {
	s.Do(func(ctx context.Context) error {
		return feed.Set(ctx, s.Feed, "skills.entries."+e.SettingsKey+".always", always)
	})
}

// SetNeeds sets a skill's requirements on a machine; nil uses the skill's own value.
func (s *Model) SetNeeds(e protocol.SkillStatusEntry, caps []string) {
	s.Do(func(ctx context.Context) error {
		if caps == nil {
			return feed.Set(ctx, s.Feed, "skills.entries."+e.SettingsKey+".requires", nil)
		}
		return feed.Set(ctx, s.Feed, "skills.entries."+e.SettingsKey+".requires.capabilities", caps)
	})
}

// Delete deletes one of the agent's own skills and returns a function that restores it. It blocks.
func (s *Model) Delete(ctx context.Context, e protocol.SkillStatusEntry) (undo func(), err error) {
	return feed.AgentFiles{Feed: s.Feed, Changed: func() {}}.Delete(ctx, e.Path)
}

// Create writes a new skill of the agent and returns its path. It blocks.
func (s *Model) Create(ctx context.Context, n newSkill) (path string, err error) {
	folder, text, err := n.parts()
	if err != nil {
		return "", err
	}
	path = "skills/" + folder + "/SKILL.md"
	if _, exists := s.Value.Get().Skill(path); exists {
		return "", fmt.Errorf("a skill named %q already exists. Choose another name or open that one", folder)
	}
	return path, feed.Send(ctx, s.Feed, protocol.WorkspaceWrite, protocol.WorkspaceWriteParams{Path: path, Content: &text})
}
