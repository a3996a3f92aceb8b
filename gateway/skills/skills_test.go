package skills

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/workspace"
)

func TestOwnSkillHidesSharedHidesBuiltIn(t *testing.T) {
	c := newTestCatalog(t)
	if e := c.entry(t, "review-changes"); e.Source != protocol.SkillBuiltIn || e.Location != "built-in:skills/review-changes/SKILL.md" {
		t.Errorf(`got %+v; want Source SkillBuiltIn and Location "built-in:skills/review-changes/SKILL.md"`, e)
	}
	c.write(t, "skills/review-changes/SKILL.md", "---\nname: review-changes\ndescription: shared\n---\n")
	if e := c.entry(t, "review-changes"); e.Source != protocol.SkillGlobal || e.Location != "skills/review-changes/SKILL.md" || e.Description != "shared" {
		t.Errorf(`got %+v; want Source SkillGlobal, Location "skills/review-changes/SKILL.md" and Description "shared"`, e)
	}
	c.write(t, "agents/main/skills/review-changes/SKILL.md", "Mine.")
	if e := c.entry(t, "review-changes"); e.Source != protocol.SkillAgent || e.Location != "agents/main/skills/review-changes/SKILL.md" || e.Description != "Mine." {
		t.Errorf(`got %+v; want Source SkillAgent, Location "agents/main/skills/review-changes/SKILL.md" and Description "Mine."`, e)
	}
	s, err := c.Status(t.Context(), protocol.SkillsParams{AgentID: "other"})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.Skills {
		if e.Source == protocol.SkillAgent {
			t.Errorf("another agent sees %s", e.Location)
		}
	}
}

func TestSkillsAreFoundInGroupsOfFolders(t *testing.T) {
	c := newTestCatalog(t)
	c.write(t, "skills/office/letters/SKILL.md", "Letters.")
	c.write(t, "skills/office/letters/examples/SKILL.md", "No skill, but an example of one.")
	c.write(t, "skills/.git/x/SKILL.md", "Hidden.")
	c.write(t, "skills/a/b/c/d/e/f/SKILL.md", "Too deep.")
	c.write(t, "skills/SKILL.md", "In no folder.")
	s, err := c.Status(t.Context(), protocol.SkillsParams{})
	if err != nil {
		t.Fatal(err)
	}
	var shared []string
	for _, e := range s.Skills {
		if e.Source == protocol.SkillGlobal {
			shared = append(shared, e.Path)
		}
	}
	if !slices.Equal(shared, []string{"skills/office/letters/SKILL.md"}) {
		t.Errorf("got %v; want %v", shared, []string{"skills/office/letters/SKILL.md"})
	}
}

func TestTheBeginningOfAnOverlongFileIsRead(t *testing.T) {
	c := newTestCatalog(t)
	c.write(t, "skills/long/SKILL.md", "---\nname: long\ndescription: Still told.\n---\n"+strings.Repeat("ü", workspace.MaxSkillFile))
	s, err := c.Status(t.Context(), protocol.SkillsParams{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(s.Skills, func(e protocol.SkillStatusEntry) bool { return e.Name == "long" })
	if i < 0 || s.Skills[i].Description != "Still told." || len(s.Skills[i].Problems) != 1 || !strings.Contains(s.Skills[i].Problems[0], "at most 1048576 are read") {
		t.Errorf("got %+v; want the skill long with its description and one problem", s.Skills)
	}
}

func TestLinksDoNotLeadOut(t *testing.T) {
	c := newTestCatalog(t)
	outside := filepath.Join(t.TempDir(), "x")
	if err := os.MkdirAll(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "SKILL.md"), []byte("Outside."), 0o600); err != nil {
		t.Fatal(err)
	}
	c.write(t, "skills/in/notes.md", "")
	if err := os.Symlink(outside, filepath.Join(c.home, "skills", "out")); err != nil {
		t.Skip("links cannot be made here:", err)
	}
	if err := os.Symlink(filepath.Join(outside, "SKILL.md"), filepath.Join(c.home, "skills", "in", "SKILL.md")); err != nil {
		t.Fatal(err)
	}
	s, err := c.Status(t.Context(), protocol.SkillsParams{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.Skills {
		if e.Source == protocol.SkillGlobal && !strings.Contains(strings.Join(e.Problems, ""), "could not be read") {
			t.Errorf(`got %+v; want "could not be read" in Problems`, e)
		}
	}
}

func TestEligibility(t *testing.T) {
	full := protocol.NodeInfo{ID: "full", Online: true, Platform: "linux", Caps: protocol.Capabilities}
	reader := protocol.NodeInfo{ID: "reader", Online: true, Platform: "darwin-arm64", Caps: []string{protocol.CapRead, protocol.CapList}}
	shell := protocol.NodeInfo{ID: "shell", Online: true, Platform: "windows", Caps: []string{protocol.CapExec}}
	away := full
	away.Online = false
	yes := true
	for name, tc := range map[string]struct {
		file    string
		set     config.Skill
		nodes   []protocol.NodeInfo
		hosts   []protocol.NodeID
		reasons []string
	}{
		"nothing needed, nobody there":              {"x", config.Skill{}, nil, nil, nil},
		"one machine has it":                        {skillRequiring(protocol.CapExec), config.Skill{}, []protocol.NodeInfo{full, reader}, []protocol.NodeID{"full"}, nil},
		"nobody there":                              {skillRequiring(protocol.CapExec), config.Skill{}, []protocol.NodeInfo{away}, nil, []string{"no connected hosts"}},
		"two machines together do not do":           {skillRequiring(protocol.CapExec, protocol.CapRead), config.Skill{}, []protocol.NodeInfo{reader, shell}, nil, []string{"requires capabilities: filesystem.read, shell.exec"}},
		"unknown capability fails closed":           {skillRequiring("shell.root"), config.Skill{}, []protocol.NodeInfo{full}, nil, []string{"invalid requirement identifiers: shell.root"}},
		"metadata that is no data fails closed":     {"---\nname: x\nmetadata: \"{{\"\n---\n", config.Skill{}, []protocol.NodeInfo{full}, nil, []string{"invalid requirement identifiers: metadata"}},
		"always, whatever is needed":                {skillRequiring("shell.root"), config.Skill{Always: &yes}, nil, nil, nil},
		"disabled":                                  {"x", config.Skill{Enabled: new(bool)}, nil, nil, []string{"disabled by skills.entries policy"}},
		"disabled beats always":                     {"x", config.Skill{Enabled: new(bool), Always: &yes}, nil, nil, []string{"disabled by skills.entries policy"}},
		"a setting replaces what is needed":         {skillRequiring("shell.root"), config.Skill{Requires: &config.SkillRequires{Capabilities: []string{protocol.CapList}}}, []protocol.NodeInfo{reader}, []protocol.NodeID{"reader"}, nil},
		"programs of a machine that does not tell":  {bins(`"bins":["nowhere"],"env":["X"]`), config.Skill{}, []protocol.NodeInfo{reader}, []protocol.NodeID{"reader"}, nil},
		"a program it has":                          {bins(`"bins":["jq"]`), config.Skill{}, []protocol.NodeInfo{full}, []protocol.NodeID{"full"}, nil},
		"a program it lacks":                        {bins(`"bins":["jq","gh"]`), config.Skill{}, []protocol.NodeInfo{full}, nil, []string{"requires programs: gh, jq"}},
		"one of two programs":                       {bins(`"anyBins":["gh","jq"]`), config.Skill{}, []protocol.NodeInfo{full}, []protocol.NodeID{"full"}, nil},
		"none of two programs":                      {bins(`"anyBins":["gh","hub"]`), config.Skill{}, []protocol.NodeInfo{full}, nil, []string{"requires one of the programs: gh, hub"}},
		"a program where nobody is":                 {bins(`"bins":["jq"]`), config.Skill{}, nil, nil, []string{"no connected hosts"}},
		"a variable it has":                         {bins(`"env":["JQ_COLORS"]`), config.Skill{}, []protocol.NodeInfo{full}, []protocol.NodeID{"full"}, nil},
		"a variable it lacks":                       {bins(`"env":["JQ_COLORS","GH_TOKEN"]`), config.Skill{}, []protocol.NodeInfo{full}, nil, []string{"requires environment variables: GH_TOKEN, JQ_COLORS"}},
		"a variable where nobody is":                {bins(`"env":["JQ_COLORS"]`), config.Skill{}, nil, nil, []string{"no connected hosts"}},
		"a variable of a machine that does not say": {bins(`"env":["GH_TOKEN"]`), config.Skill{}, []protocol.NodeInfo{full, reader}, []protocol.NodeID{"reader"}, nil},
		"a program and a variable it lacks":         {bins(`"bins":["gh"],"env":["GH_TOKEN"]`), config.Skill{}, []protocol.NodeInfo{full}, nil, []string{"requires programs: gh", "requires environment variables: GH_TOKEN"}},
		"another system":                            {"---\nname: x\nmetadata: {\"openclaw\":{\"os\":[\"darwin\"]}}\n---\n", config.Skill{}, []protocol.NodeInfo{full}, nil, []string{"requires system: darwin"}},
		"this system":                               {"---\nname: x\nmetadata: {\"openclaw\":{\"os\":[\"darwin\",\"linux\"]}}\n---\n", config.Skill{}, []protocol.NodeInfo{reader, shell}, []protocol.NodeID{"reader"}, nil},
		"the first namespace holds alone": {
			"---\nname: x\nmetadata: {\"openclaw\":{\"requires\":{\"capabilities\":[\"bad\"]}},\"gsv\":{\"requires\":{\"capabilities\":[\"shell.exec\"]}}}\n---\n",
			config.Skill{},
			[]protocol.NodeInfo{shell},
			[]protocol.NodeID{"shell"},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestCatalog(t)
			c.write(t, "skills/x/SKILL.md", tc.file)
			c.nodes, c.cfg.Skills.Entries = tc.nodes, map[string]config.Skill{"x": tc.set}
			e := c.entry(t, "x")
			if e.Eligible != (len(tc.reasons) == 0) || !slices.Equal(e.Reasons, tc.reasons) && len(e.Reasons)+len(tc.reasons) > 0 {
				t.Errorf("eligible %v, %q; want %q", e.Eligible, e.Reasons, tc.reasons)
			}
			if tc.hosts != nil && !slices.Equal(e.EligibleHosts, tc.hosts) {
				t.Errorf("hosts: got %v, want no tc.hosts or e.EligibleHosts %v", e.EligibleHosts, tc.hosts)
			}
		})
	}
}

func TestEnableKeepsTheSettingUnderANameThatCanBeAddressed(t *testing.T) {
	c := newTestCatalog(t)
	c.write(t, "skills/notes/SKILL.md", "---\nname: notes v1.2\n---\n")
	c.write(t, "skills/b.c/SKILL.md", "---\nname: b.c\n---\n")
	c.write(t, "skills/known/SKILL.md", "---\nname: Known Thing\n---\n")
	c.cfg.Skills.Entries = map[string]config.Skill{"known": {}}
	for _, name := range []string{"Notes V1.2", "known"} {
		if _, err := c.Enable(t.Context(), protocol.SkillsEnableParams{Name: name}); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(c.set, []string{"skills.entries.notes.enabled=false", "skills.entries.known.enabled=false"}) {
		t.Errorf("got %v; want set %v", c.set, []string{"skills.entries.notes.enabled=false", "skills.entries.known.enabled=false"})
	}
	if _, err := c.Enable(t.Context(), protocol.SkillsEnableParams{Name: "b.c", Enabled: true}); !errors.Is(err, protocol.ErrBadRequest) {
		t.Errorf("got %v; want the error protocol.ErrBadRequest", err)
	}
	if _, err := c.Enable(t.Context(), protocol.SkillsEnableParams{Name: "nowhere"}); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("got %v; want the error protocol.ErrNotFound", err)
	}
}

func TestPromptListsUsableSkillsAndCountsTheOthers(t *testing.T) {
	c := newTestCatalog(t)
	c.write(t, "skills/a/SKILL.md", "---\nname: a<b\ndescription: |\n  Does <this>\n  & that.\nmetadata: {\"openclaw\":{\"requires\":{\"bins\":[\"jq\"]}}}\n---\n")
	text, err := c.Prompt("main")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "review-changes") || !strings.Contains(text, "3 more cannot be used now") {
		t.Errorf(`got %v; want no "review-changes" and "3 more cannot be used now" in it`, text)
	}
	c.nodes = []protocol.NodeInfo{{ID: "n", Online: true, Caps: protocol.Capabilities}}
	if text, err = c.Prompt("main"); err != nil || !strings.Contains(text, "review-changes") || strings.Contains(text, "cannot be used") {
		t.Errorf(`got %v, %v; want no error, "review-changes" in it and no "cannot be used"`, text, err)
	}
	if !strings.Contains(text, `<skill name="a<b" read_path="skills/a/SKILL.md">Does <this> & that. (needs programs jq)</skill>`) {
		t.Errorf("got %v; want `<skill name=\"a<b\" read_path=\"skills/a/SKILL.md\">Does <this> & that. (needs programs jq)</skill>` in it", text)
	}
	c.cfg.Skills.Entries = map[string]config.Skill{"review-changes": {Enabled: new(bool)}}
	if text, err = c.Prompt("main"); err != nil || strings.Contains(text, "review-changes") || strings.Contains(text, "cannot be used") {
		t.Errorf("got %s, %v; want no skill that is turned off", text, err)
	}
	for i := range 300 {
		c.write(t, "skills/many/"+strconv.Itoa(i)+"/SKILL.md", strings.Repeat("word ", 40))
	}
	if text, err = c.Prompt("main"); err != nil || len(text) > maxPrompt+1500 || !strings.Contains(text, "omitted because of their length") {
		t.Errorf(`got %v, %v; want no error, length at most %v and "omitted because of their length" in it`, len(text), err, maxPrompt+1500)
	}
}

// TestPromptHasTheTextOfAlwaysSkills: the text of a skill with "always" is in the system
// prompt, as the settings window and the protocol say.
func TestPromptHasTheTextOfAlwaysSkills(t *testing.T) {
	c := newTestCatalog(t)
	c.write(t, "skills/tone/SKILL.md", "---\nname: tone\ndescription: How to write.\nalways: true\n---\nWrite short sentences.\n")
	c.write(t, "skills/other/SKILL.md", "---\nname: other\ndescription: Else.\n---\nNot told.\n")
	told := func(want ...string) {
		t.Helper()
		text, err := c.Prompt("main")
		for _, w := range want {
			if not := strings.HasPrefix(w, "!"); err != nil || strings.Contains(text, strings.TrimPrefix(w, "!")) == not {
				t.Errorf("%s: got %v\n%s; want no error, and the word in the text: %v", w, err, text, !not)
			}
		}
	}
	told("Write short sentences.", "!Not told.", "Else.", "!How to write.")
	c.cfg.Skills.Entries = map[string]config.Skill{"tone": {Always: new(bool)}, "other": {Always: new(true)}}
	told("!Write short sentences.", "Not told.", "How to write.")
	c.cfg.Skills.Entries = nil
	c.write(t, "skills/tone/SKILL.md", "---\nname: tone\ndescription: How to write.\nalways: true\n---\n"+strings.Repeat("word ", maxPrompt))
	told("How to write.", "!word word")
}

func TestBuiltInSkillsAreValid(t *testing.T) {
	c := newTestCatalog(t)
	s, err := c.Status(t.Context(), protocol.SkillsParams{})
	if err != nil || len(s.Skills) != 3 {
		t.Fatalf("got %v, %v; want 3 skills and no error", len(s.Skills), err)
	}
	for _, e := range s.Skills {
		if len(e.Problems) > 0 || e.Description == "" || len(e.Description) > 400 || "skills/"+e.Name+"/SKILL.md" != e.Path {
			t.Errorf(`got %+v; want Problems of length at most 0, some Description, Description of length at most 400 and "skills/" + Name + "/SKILL.md" %v`, e, e.Path)
		}
	}
}

func TestMissingNeedsOfEachMachineAreNamed(t *testing.T) {
	c := newTestCatalog(t)
	c.write(t, "skills/x/SKILL.md", "---\nmetadata: {\"openclaw\":{\"requires\":{\"bins\":[\"jq\",\"gh\"]}}}\n---\nX.")
	c.nodes = []protocol.NodeInfo{{ID: "full", Online: true, Platform: "linux"}, {ID: "away"}}
	e := c.entry(t, "x")
	if len(e.Missing) != 1 || e.Missing[0].NodeID != "full" || !slices.Equal(e.Missing[0].Lacks, []string{"the program gh"}) || e.SettingsKey != "x" {
		t.Errorf(`got %+v; want Missing of length 1, Missing[0].NodeID "full", Missing[0].Lacks %v and SettingsKey "x"`, e, []string{"the program gh"})
	}
	for i := range 100 {
		c.nodes = append(c.nodes, protocol.NodeInfo{ID: protocol.NodeID("full" + strconv.Itoa(i)), Online: true})
	}
	c.write(t, "skills/y/SKILL.md", "---\nmetadata: {\"openclaw\":{\"requires\":{\"capabilities\":[\"shell.exec\"]}}}\n---\nY.")
	if e := c.entry(t, "y"); len(e.Missing) != protocol.MaxSkillMissing || len(e.EligibleHosts) != 0 {
		t.Errorf("got %d names, eligible %v; want %d and none", len(e.Missing), e.EligibleHosts, protocol.MaxSkillMissing)
	}
}

func TestOnlyUsableSkillsHaveATextForPrograms(t *testing.T) {
	c := newTestCatalog(t)
	c.write(t, "skills/tidy/SKILL.md", "---\nname: tidy\n---\nHow to tidy.\n")
	c.write(t, "skills/off/SKILL.md", "---\nname: off\n---\nTurned off.\n")
	c.write(t, "skills/unmet/SKILL.md", skillRequiring("host.none"))
	c.cfg.Skills.Entries = map[string]config.Skill{"off": {Enabled: new(bool)}}
	list, err := c.Usable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hasName := func(name string) bool {
		return slices.ContainsFunc(list, func(s protocol.SkillStatusEntry) bool { return s.Name == name })
	}
	for name, want := range map[string]string{"tidy": "How to tidy.", "off": "", "x": "", "none": ""} {
		text, err := c.Text(t.Context(), name)
		if hasName(name) != (want != "") || (err == nil) != (want != "") || !strings.Contains(text, want) {
			t.Errorf("%s: got text %q, error %v, want %q", name, text, err, want)
		}
	}
}
