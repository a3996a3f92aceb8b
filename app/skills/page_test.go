package skills

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/golden"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

// bench is a page without a gateway: the test sets its states.
type bench struct {
	*Page
	w fyne.Window
	*pagetest.Host
}

func inPage(t testing.TB, mode style.Mode, width float32) *bench {
	t.Helper()
	ctx, app := pagetest.Start(t, mode)
	b := &bench{}
	b.Host = &pagetest.Host{}
	b.Page = newPage(ctx, host.Env{Host: b.Host, Feed: app.Feed, Drafts: app.Drafts})
	b.now = pagetest.Clock
	b.w = pagetest.Window(t, b.Box, width, 700)
	return b
}

func viewWithSkills() View {
	yes := true
	return View{
		Loaded: true, Nodes: []protocol.SkillNodeStatus{{NodeID: "laptop", Online: true}, {NodeID: "server", Online: true}, {NodeID: "nas"}}, Names: map[protocol.NodeID]string{"laptop": "laptop", "server": "server", "nas": "Cellar"},
		Set: map[string]Settings{"release-notes": {Always: &yes}},
		Skills: []protocol.SkillStatusEntry{
			{
				Name: "release-notes", Description: "Write the release notes.\nUse it before a release.", Path: "skills/release-notes/SKILL.md", Location: "agents/main/skills/release-notes/SKILL.md",
				Source: protocol.SkillAgent, Enabled: true, Eligible: true, Always: true, SettingsKey: "release-notes", EligibleHosts: []protocol.NodeID{"laptop"}, Homepage: "https://example.org/skills", License: "MIT",
				Requirements: protocol.SkillRequirementSnapshot{Capabilities: []string{protocol.CapExec}, Bins: []string{"git"}, Env: []string{"GITHUB_TOKEN"}},
				Missing:      []protocol.SkillMissing{{NodeID: "server", Lacks: []string{"the program git"}}}, Problems: []string{"The description is longer than 1024 characters and was cut."},
			},
			{
				Name: "review-changes", Description: strings.Repeat("A very long description of a skill ", 12), Path: "skills/review-changes/SKILL.md", Source: protocol.SkillBuiltIn,
				Location: "built-in:skills/review-changes/SKILL.md", Enabled: true, SettingsKey: "review-changes", Reasons: []string{"requires programs: gh"}, Requirements: protocol.SkillRequirementSnapshot{Bins: []string{"gh"}},
			},
			{
				Name: strings.Repeat("a-very-long-name-", 12), Description: "Short.", Path: "skills/x.y/SKILL.md", Location: "skills/x.y/SKILL.md", Source: protocol.SkillGlobal,
				Reasons: []string{"disabled by skills.entries policy"},
			},
		},
	}
}

func TestViewsMatchGolden(t *testing.T) {
	p := inPage(t, style.Light, 880)
	golden.Markup(t, "loading", p.Box)
	p.show(View{Loaded: true})
	golden.Markup(t, "empty", p.Box)
	p.show(View{Problem: "The disk is full"})
	golden.Markup(t, "problem", p.Box)
	p.show(viewWithSkills())
	golden.Markup(t, "list", p.Box)
	p.search.SetText("nothing like it")
	golden.Markup(t, "nothing-found", p.Box)
	p.search.SetText("")
	p.List.OnChoose(0)
	v := viewWithSkills()
	v.Shown, v.Text = "skills/release-notes/SKILL.md", "# Release notes\n\n1. Look at `git log`.\n2. Write.\n\n[More](https://example.org)"
	p.show(v)
	golden.Markup(t, "detail", p.Box)
	p.Leave()
	p.List.OnChoose(2)
	golden.Markup(t, "detail-off", p.Box)
	p.Leave()
	test.Tap(pagetest.Button(t, p.Box, "New skill"))
	golden.Markup(t, "form", p.Box)
}

func TestEveryViewInLightAndDarkWideAndNarrow(t *testing.T) {
	for mode, name := range map[style.Mode]string{style.Light: "light", style.Dark: "dark"} {
		for width, size := range map[float32]string{860: "", 520: "-narrow"} {
			p := inPage(t, mode, width)
			p.show(viewWithSkills())
			pagetest.Shot(t, p.w, "skills-"+name+size)
			pagetest.Shows(t, p.Box, "3 skills · 1 ready · 1 off", "Own · Write the release notes. Use it before", "Built in · Needs programs: gh")
			p.List.OnChoose(0)
			v := viewWithSkills()
			v.Shown, v.Text = "skills/release-notes/SKILL.md", "# Release notes\n\n1. Look at `git log`.\n"
			p.show(v)
			pagetest.Shot(t, p.w, "skills-one-"+name+size)
			pagetest.Shows(t, p.Box, "laptop can run it", "server lacks the program git", "Cellar is offline", "GITHUB_TOKEN", "Its file has an error.")
			if w := p.Box.MinSize().Width; w > 480 {
				t.Errorf("the page needs a width of %v, want at most 480", w)
			}
			p.openForm()
			pagetest.Shot(t, p.w, "skills-new-"+name+size)
			if w := p.Box.MinSize().Width; w > 480 {
				t.Errorf("the form needs a width of %v, want at most 480", w)
			}
		}
	}
}

func TestSwitchingOffOffersUndoAndKeepsTheKeyboard(t *testing.T) {
	p := inPage(t, style.Light, 880)
	p.show(viewWithSkills())
	p.List.OnChoose(0)
	toggle := pagetest.Button(t, p.Box, "Turn off")
	if p.w.Canvas().Focused() != fyne.Focusable(toggle) {
		t.Error("the keyboard is not on the page")
	}
	toggle.TypedRune(' ')
	v := viewWithSkills()
	v.Skills[0].Enabled = false
	p.show(v)
	if p.w.Canvas().Focused() != fyne.Focusable(toggle) || toggle.Text != "Turn on" || strings.Join(p.Did, ",") != "undo “release-notes” was turned off." {
		t.Errorf("did %v, the button says %q", p.Did, toggle.Text)
	}
}

func TestOnlyOwnSkillsAreDeletedOthersAreCopied(t *testing.T) {
	p := inPage(t, style.Light, 880)
	p.show(viewWithSkills())
	p.List.OnChoose(1)
	test.Tap(pagetest.Button(t, p.Box, "Edit a copy"))
	test.Tap(pagetest.Button(t, p.Box, "Open folder"))
	if strings.Join(p.Did, ",") != "agentfile skills/review-changes/SKILL.md,agentfile skills/review-changes/" {
		t.Errorf(`did: got %v, want Did "agentfile skills/review-changes/SKILL.md,agentfile skills/review-changes/"`, p.Did)
	}
	if p.detail.remove.Visible() {
		t.Error("a built-in skill can be deleted")
	}
	p.Leave()
	p.List.OnChoose(0)
	if !p.detail.remove.Visible() {
		t.Error("the agent's own skill cannot be deleted")
	}
	test.Tap(pagetest.Button(t, p.Box, "https://example.org/skills"))
	if p.Did[len(p.Did)-1] != "url https://example.org/skills" {
		t.Errorf(`did: got %v, want the last of Did "url https://example.org/skills"`, p.Did)
	}
}

func TestDeletedSkillClosesItsPage(t *testing.T) {
	p := inPage(t, style.Light, 880)
	p.show(viewWithSkills())
	p.List.OnChoose(1)
	v := viewWithSkills()
	v.Skills = v.Skills[:1]
	p.show(v)
	if p.IsOpen() {
		t.Error("the page of a skill that is gone is shown")
	}
	pagetest.Button(t, p.Box, "New skill")
}

func TestSearchAndFormKeepTheirFieldsWhileFilesChange(t *testing.T) {
	p := inPage(t, style.Light, 880)
	p.show(viewWithSkills())
	frame := p.Box.Objects[0]
	p.search.SetText("git")
	p.show(View{Loaded: true})
	p.show(viewWithSkills())
	if p.Box.Objects[0] != frame || len(p.results) != 0 {
		t.Errorf("the field was replaced, or %d found; want 0", len(p.results))
	}
	p.search.SetText("review BUILT")
	p.search.SetText("review included")
	if len(p.results) != 1 {
		t.Errorf("got %d found, want 1", len(p.results))
	}
	p.search.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if !p.IsOpen() || p.detail.path != "skills/review-changes/SKILL.md" {
		t.Error("Enter does not open what was found")
	}
	p.Leave()
	p.search.SetText("")
	test.Tap(pagetest.Button(t, p.Box, "New skill"))
	form := p.Box.Objects[0]
	p.show(viewWithSkills())
	if p.Box.Objects[0] != form {
		t.Error("the form is disturbed by what comes in")
	}
	test.Tap(pagetest.Button(t, p.Box, "Cancel"))
	pagetest.Button(t, p.Box, "New skill")
}

// TestThousandsOfSkillsDrawOnlyVisibleRows: as many rows as fit the window are built, however many
// skills there are.
func TestFormDraftIsRestored(t *testing.T) {
	p := inPage(t, style.Light, 880)
	p.show(viewWithSkills())
	open := func() *widgets.Entry {
		p.openForm()
		return widgettest.Find(p.Box, func(e *widgets.Entry) bool { return e.PlaceHolder == "Release notes" })
	}
	open().SetText("Tidy up")
	if !p.Back() || p.IsOpen() {
		t.Error("Back does not leave the form")
	}
	if name := open(); name.Text != "Tidy up" {
		t.Errorf("Name after the return: got %q, want what was typed", name.Text)
	}
	pagetest.Shows(t, p.Box, widgets.DraftRestored, "skills/tidy-up/SKILL.md")
	test.Tap(pagetest.Button(t, p.Box, "Cancel"))
	if name := open(); name.Text != "" {
		t.Errorf("Name after Cancel: got %q, want none", name.Text)
	}
}

func TestThousandsOfSkillsDrawOnlyVisibleRows(t *testing.T) {
	p := inPage(t, style.Light, 880)
	built, create := 0, p.List.CreateItem
	p.List.CreateItem = func() fyne.CanvasObject { built++; return create() }
	p.show(manySkills())
	if built > 30 {
		t.Errorf("5,000 skills: built %d rows, want those that fit the window", built)
	}
	p.search.SetText("review")
	if len(p.results) != 1 {
		t.Errorf("found %d skills, want 1", len(p.results))
	}
}

// BenchmarkThousandsOfSkills lists 5,000 skills and searches them.
func BenchmarkThousandsOfSkills(b *testing.B) {
	p, v := inPage(b, style.Light, 880), manySkills()
	for b.Loop() {
		p.search.SetText("")
		p.show(v)
		p.search.SetText("review")
	}
}

func manySkills() View {
	v := viewWithSkills()
	one := v.Skills[0]
	for range 5000 {
		v.Skills = append(v.Skills, one)
	}
	return v
}
