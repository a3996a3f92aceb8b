package skills

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// fakeGateway serves skills and records changes of files and settings.
type fakeGateway struct {
	skills []protocol.SkillStatusEntry
	files  map[string]string
	set    []string
	fail   error
}

func (c *fakeGateway) serve(f *feedtest.Gateway) {
	feedtest.On(f, protocol.SkillsStatus, func(protocol.SkillsParams) (protocol.SkillsStatusResult, error) {
		return protocol.SkillsStatusResult{Skills: append([]protocol.SkillStatusEntry{}, c.skills...)}, c.fail
	})
	feedtest.On(f, protocol.SkillsEnable, func(p protocol.SkillsEnableParams) (protocol.OK, error) {
		for i := range c.skills {
			if c.skills[i].Name == p.Name {
				c.skills[i].Enabled = p.Enabled
			}
		}
		return protocol.OK{OK: true}, c.fail
	})
	feedtest.On(f, protocol.WorkspaceRead, func(p protocol.WorkspaceReadParams) (any, error) {
		text, ok := c.files[p.Path]
		if !ok {
			return nil, protocol.ErrNotFound.With("no such file")
		}
		return protocol.WorkspaceReadResult{Path: p.Path, Content: text}, nil
	})
	feedtest.On(f, protocol.WorkspaceWrite, func(p protocol.WorkspaceWriteParams) (protocol.WorkspaceWriteResult, error) {
		c.files[p.Path] = *p.Content
		return protocol.WorkspaceWriteResult{}, nil
	})
	feedtest.On(f, protocol.WorkspaceDelete, func(p protocol.WorkspaceDeleteParams) (protocol.WorkspaceDeleteResult, error) {
		delete(c.files, p.Path)
		return protocol.WorkspaceDeleteResult{Deleted: true}, nil
	})
	feedtest.On(f, protocol.ConfigSet, func(p protocol.ConfigSetParams) (protocol.ConfigSetResult, error) {
		c.set = append(c.set, p.Path+"="+string(p.Value))
		return protocol.ConfigSetResult{}, nil
	})
	feedtest.On(f, protocol.ConfigGet, func(p protocol.ConfigGetParams) (protocol.ConfigGetResult, error) {
		return protocol.ConfigGetResult{Value: json.RawMessage(`{"greet":{"always":true}}`)}, nil
	})
}

func newFakeGateway() *fakeGateway {
	return &fakeGateway{
		files:  map[string]string{"skills/greet/SKILL.md": "---\r\nname: greet\r\n---\r\n# Greet\r\n\r\nSay hello."},
		skills: []protocol.SkillStatusEntry{{Name: "greet", Path: "skills/greet/SKILL.md", Enabled: true, Eligible: true, SettingsKey: "greet"}},
	}
}

func TestSkillsFollowTheirFilesAndMachines(t *testing.T) {
	c := newFakeGateway()
	feedtest.Run(t, feed.New, c.serve, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		s := newModel(a)
		go s.Follow(t.Context())
		synctest.Wait()
		s.Show("skills/greet/SKILL.md")
		synctest.Wait()
		v := s.Value.Get()
		if !v.Loaded || len(v.Skills) != 1 || v.Text != "# Greet\n\nSay hello." || v.Set["greet"].Always == nil {
			t.Errorf(`got %+v; want Loaded, Skills of length 1, Text "# Greet\n\nSay hello." and a Set["greet"].Always`, v)
		}
		c.skills = append(c.skills, protocol.SkillStatusEntry{Name: "new", Path: "skills/new/SKILL.md"})
		c.files["skills/greet/SKILL.md"] = "Changed."
		f.Change(protocol.Change{Kind: protocol.ChangeSkills})
		if v = s.Value.Get(); len(v.Skills) != 2 || v.Text != "Changed." {
			t.Errorf("after a change of files: %+v", v)
		}
		asked := len(f.Called(protocol.SkillsStatus.Name))
		f.Change(protocol.Change{Kind: protocol.ChangeNode, Node: &protocol.NodeInfo{ID: "nas", Online: true}})
		if n := len(f.Called(protocol.SkillsStatus.Name)); n != asked+1 {
			t.Errorf("a machine that comes leads to %d questions", n-asked)
		}
		f.Change(protocol.Change{Kind: protocol.ChangeNode, Node: &protocol.NodeInfo{ID: "nas", Online: true, PingMs: 3}})
		if n := len(f.Called(protocol.SkillsStatus.Name)); n != asked+1 {
			t.Error("how far away a machine is was taken for a change")
		}
		delete(c.files, "skills/greet/SKILL.md")
		f.Change(protocol.Change{Kind: protocol.ChangeSkills})
		if v = s.Value.Get(); v.TextProblem == "" || v.Text != "" {
			t.Errorf("the text of a file that is gone: %+v", v)
		}
		c.fail = protocol.ErrInternal.With("the disk is full")
		f.Change(protocol.Change{Kind: protocol.ChangeSkills})
		if v = s.Value.Get(); v.Problem != "The disk is full" || len(v.Skills) != 2 {
			t.Errorf("a failure shows %+v", v)
		}
	})
}

func TestSkillIsSwitchedOffAndOn(t *testing.T) {
	c := newFakeGateway()
	feedtest.Run(t, feed.New, c.serve, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		s := newModel(a)
		s.Load(t.Context())
		undo := s.Enable(s.Value.Get().Skills[0], false)
		if s.Value.Get().Skills[0].Enabled {
			t.Error("it is not shown at once")
		}
		synctest.Wait()
		if c.skills[0].Enabled {
			t.Error("the gateway was not told")
		}
		undo()
		synctest.Wait()
		if !c.skills[0].Enabled || !s.Value.Get().Skills[0].Enabled {
			t.Error("undo does not switch it on again")
		}
		yes := true
		e := s.Value.Get().Skills[0]
		s.SetAlways(e, &yes)
		synctest.Wait()
		s.SetAlways(e, nil)
		synctest.Wait()
		s.SetNeeds(e, []string{protocol.CapExec})
		synctest.Wait()
		s.SetNeeds(e, nil)
		synctest.Wait()
		want := "skills.entries.greet.always=true skills.entries.greet.always=null skills.entries.greet.requires.capabilities=[\"shell.exec\"] skills.entries.greet.requires="
		if got := strings.Join(c.set, " "); got != want {
			t.Errorf("set: got %s, want %s", got, want)
		}
		c.fail = protocol.ErrForbidden.With("not from here")
		s.Enable(e, false)
		synctest.Wait()
		if n := a.View().Notice; n == nil || n.Text != "Not from here" {
			t.Errorf(`said: got %+v, want Text "Not from here"`, n)
		}
	})
}

func TestNewSkillIsAValidFile(t *testing.T) {
	c := newFakeGateway()
	feedtest.Run(t, feed.New, c.serve, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		s := newModel(a)
		s.Load(t.Context())
		path, err := s.Create(t.Context(), newSkill{Name: " Release  Notes!", When: "Write notes: \"what is <new>\".\nUse it before a release.", Caps: []string{protocol.CapExec}})
		if err != nil || path != "skills/release-notes/SKILL.md" {
			t.Fatalf(`got %v, %v; want no error and path "skills/release-notes/SKILL.md"`, path, err)
		}
		text := c.files[path]
		for _, want := range []string{
			"name: release-notes\n", `description: "Write notes: \"what is <new>\". Use it before a release."` + "\n",
			`metadata: {"fairlead": {"requires": {"capabilities": ["shell.exec"]}}}` + "\n---\n", "# Release Notes!\n",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
		for _, n := range []newSkill{{Name: "Greet", When: "x"}, {Name: "—", When: "x"}, {Name: "a", When: " "}, {Name: "a", When: strings.Repeat("ä", 1025)}} {
			if path, err := s.Create(t.Context(), n); err == nil {
				t.Errorf("%+v was written to %s", n, path)
			}
		}
	})
}

func TestSkillWords(t *testing.T) {
	nodes := []protocol.SkillNodeStatus{{NodeID: "a", Online: true}, {NodeID: "b", Online: true}, {NodeID: "c"}}
	e := protocol.SkillStatusEntry{
		Name: "x", Enabled: true, Reasons: []string{"requires programs: gh"}, Source: protocol.SkillBuiltIn, EligibleHosts: []protocol.NodeID{"a"},
		Missing: []protocol.SkillMissing{{NodeID: "b", Lacks: []string{"the program gh", "the capability shell.exec"}}},
	}
	if word, why := stateWords(e); word != "unavailable" || why != "No online machine has what it needs (programs: gh)." {
		t.Errorf(`got %v, %v; want word "unavailable" and why "No online machine has what it needs (programs: gh)."`, word, why)
	}
	got := machinesOf(e, View{Nodes: nodes, Names: map[protocol.NodeID]string{"c": "Cellar"}})
	if got[0].Name != "a" || got[2].Name != "Cellar" || !got[0].Fits || got[1].Text != "lacks the program gh, the capability shell.exec" || got[2].Text != "is offline" || got[2].Fits {
		t.Errorf("got %+v; want a fits, the next lacks gh and shell.exec, Cellar is offline", got)
	}
	e.Enabled = false
	if word, _ := stateWords(e); word != "off" {
		t.Errorf("got %v, want %q", word, "off")
	}
	for query, n := range map[string]int{"": 1, "included": 1, "X OFF": 1, "nothing": 0} {
		if got := find([]protocol.SkillStatusEntry{e}, query); len(got) != n {
			t.Errorf("%q finds %d, want %d", query, len(got), n)
		}
	}
	for text, want := range map[string]string{"---\nname: x\n---\nbody": "body", "---\n---\nbody": "body", "no front": "no front", "---\nnever ends": "---\nnever ends", "---\nname: x\n---": "", "--- \nname: x\n---\t\nbody": "body"} {
		if got := skillBody(text); got != want {
			t.Errorf("the body of %q is %q, want %q", text, got, want)
		}
	}
}

func FuzzSkillFolder(f *testing.F) {
	f.Add("Release Notes")
	f.Add("../../etc")
	f.Fuzz(func(t *testing.T, name string) {
		s := SkillFolder(name)
		if len(s) > wording.MaxSlug || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || strings.HasPrefix(s, "-") || strings.HasSuffix(s, "-") || strings.Contains(s, "--") {
			t.Errorf("%q became %q, want letters, digits and single hyphens", name, s)
		}
	})
}
