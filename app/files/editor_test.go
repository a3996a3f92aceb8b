package files

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// inEditor opens one of the agent's files. edit is its editor.
func inEditor(t *testing.T, f File) (p *Page, edit *editor) {
	t.Helper()
	p = newTestPage(t)
	f.Editable = true
	p.view = View{File: &f}
	p.viewer = newViewer(p, f)
	p.Box.Objects[0] = p.viewer.box
	p.Box.Refresh()
	return p, p.viewer.edit
}

func TestEditorSaysWhatAFileIsForAndHowLongItMayBe(t *testing.T) {
	p, e := inEditor(t, File{Path: "SOUL.md", Text: "be kind"})
	pagetest.Shows(t, p.Box, "The agent's personality and behaviour.")
	e.text.SetText(strings.Repeat("x", fileCap+5))
	pagetest.Shows(t, p.Box, "5 bytes too long")
	p, _ = inEditor(t, File{Path: "USER.md", Text: "as new", Missing: true})
	pagetest.Shows(t, p.Box, "does not exist")
	golden.Markup(t, "editor-missing", p.Box)
}

func TestFileHasItsNameAsTitleAndItsFolderBelow(t *testing.T) {
	p := newTestPage(t)
	const dir = "/srv/a long way to/the folder of a person/who has written/everything about/the second quarter"
	for _, f := range []File{{Path: dir + "/report.md", Text: "as ever"}, {Path: dir + "/report.md", Text: "as ever", Editable: true}} {
		p.viewer = newViewer(p, f)
		p.Box.Objects[0] = p.viewer.box
		pagetest.Window(t, p.Box, 480, 400)
		pagetest.Shows(t, p.Box, ">report.md<", "/srv/…/", "/the second quarter<")
	}
}

func TestUnsavedTextSurvivesLeavingTheFile(t *testing.T) {
	p, e := inEditor(t, File{Path: "SOUL.md", Text: "be kind"})
	e.text.SetText("be kind and bri")
	p.close()
	again := newEditor(p, &viewer{}, File{Path: "SOUL.md", Text: "be kind", Editable: true}, widgets.HLine())
	if again.text.Text != "be kind and bri" || !again.discardButton.Visible() {
		t.Errorf(`it holds %q; want "be kind and bri"`, again.text.Text)
	}
	test.Tap(again.discardButton)
	if _, ok := p.e.Drafts.File("SOUL.md"); ok || again.text.Text != "be kind" || again.discardButton.Visible() {
		t.Errorf(`discarding leaves %q; want "be kind"`, again.text.Text)
	}
}

// viewerOf is a viewer of some file.
func (p *Page) viewerOf(t *testing.T, path string) *viewer {
	t.Helper()
	return newViewer(p, File{Path: path})
}

func TestChangeOnTheDiskIsLoadedOrAskedAbout(t *testing.T) {
	// the page's requests have failed by the time of the check
	synctest.Test(t, func(t *testing.T) {
		p, e := inEditor(t, File{Path: "SOUL.md", Text: "be kind"})
		pagetest.Settle()
		e.fileChanged("be brief", true)
		pagetest.Settle()
		if e.text.Text != "be brief" || e.conflictBox.Visible() {
			t.Errorf(`nothing was typed, and it shows %q; want "be brief"`, e.text.Text)
		}
		e.text.SetText("mine")
		e.fileChanged("theirs", true)
		pagetest.Settle()
		if e.text.Text != "mine" || !e.conflictBox.Visible() {
			t.Errorf(`what was typed became %q; want "mine"`, e.text.Text)
		}
		golden.Markup(t, "editor-conflict", p.Box)
		test.Tap(pagetest.Button(t, p.Box, "Use the one on disk"))
		pagetest.Settle()
		if e.text.Text != "theirs" || e.hasChanges() || e.conflictBox.Visible() {
			t.Errorf(`taking theirs leaves %q; want "theirs"`, e.text.Text)
		}
		e.text.SetText("mine")
		e.afterSave("SOUL.md", "mine", &feed.Conflict{Current: "other"})
		pagetest.Settle()
		if !e.conflictBox.Visible() || e.text.Text != "mine" {
			t.Error("a conflict while saving is not asked about")
		}
		e.keepMine()
		pagetest.Settle()
		if e.base != "other" || e.text.Text != "mine" {
			t.Errorf(`keeping mine saves over %q; want "other"`, e.base)
		}
		e.afterSave("SOUL.md", "mine", nil)
		pagetest.Settle()
		if e.hasChanges() || e.conflictBox.Visible() {
			t.Error("it is not saved")
		}
	})
}

func TestListMarksMissingAndUnsavedFiles(t *testing.T) {
	p := newTestPage(t)
	p.e.Drafts.SaveFile("AGENTS.md", "half")
	p.show(View{Entries: []Entry{{Path: "AGENTS.md"}, {Path: "SOUL.md"}, {Path: "USER.md", Missing: true}, {Path: "poem.txt"}}})
	var trails []string
	for _, e := range p.view.Entries {
		trails = append(trails, p.list.marks[e.Path])
	}
	if got := strings.Join(trails, "; "); got != "unsaved; personality; about you · not created yet; " {
		t.Errorf("got %q, want %q", got, "unsaved; personality; about you · not created yet; ")
	}
}

func TestANewFileThatWasSavedMayBeSavedUnderAnotherName(t *testing.T) {
	p := newTestPage(t)
	v := p.viewerOf(t, "x")
	e := newEditor(p, v, File{Editable: true}, widgets.HLine())
	e.text.SetText("one")
	e.afterSave("a.md", "one", nil)
	if !strings.Contains(e.status.Text(), "Saved") {
		t.Errorf(`it says %q, want "Saved" in it`, e.status.Text())
	}
	for name, there := range map[string]bool{"a.md": true, " b.md": false} {
		t.Run(name, func(t *testing.T) {
			e.name.SetText(name)
			if at, is := e.target(); at != strings.TrimSpace(name) || is != there {
				t.Errorf("%q is saved as %q, there %v", name, at, is)
			}
		})
	}
	e.text.SetText("one and more")
	e.afterSave("a.md", "one", nil)
	if strings.Contains(e.status.Text(), "Saved.") {
		t.Error("what was typed meanwhile is said to be saved")
	}
}

func TestCtrlSSavesAFile(t *testing.T) {
	pagetest.Start(t, style.Light)
	area, saved := newTextArea(), 0
	area.onSave = func() { saved++ }
	area.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyN, Modifier: fyne.KeyModifierShortcutDefault})
	if saved != 0 {
		t.Error("another shortcut saves")
	}
	area.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyS, Modifier: fyne.KeyModifierShortcutDefault})
	if saved != 1 {
		t.Errorf("saved %d times, want 1", saved)
	}
}

func TestEscapeLeavesTheEditorAndAsksAboutUnsavedChanges(t *testing.T) {
	p, e := inEditor(t, File{Path: "SOUL.md", Text: "be kind"})
	e.text.SetText("be kind and brief")
	if !p.Back() || p.viewer == nil || !e.leaveBox.Visible() {
		t.Fatal("unsaved changes are left without a question")
	}
	golden.Markup(t, "editor-leave", p.Box)
	if !p.Back() || p.viewer == nil || e.leaveBox.Visible() {
		t.Error("a second Escape does not go on editing")
	}
	p.Back()
	test.Tap(pagetest.Button(t, p.Box, "Keep editing"))
	if e.leaveBox.Visible() {
		t.Error("the question stays")
	}
	p.Back()
	test.Tap(pagetest.Button(t, p.Box, "Close without saving"))
	if text, _ := p.e.Drafts.File("SOUL.md"); p.viewer != nil || text != "be kind and brief" {
		t.Errorf(`the draft is %q; want "be kind and brief"`, text)
	}

	p, e = inEditor(t, File{Path: "USER.md", Text: "a"})
	e.text.SetText("b")
	p.Back()
	test.Tap(pagetest.Button(t, p.Box, "Save and close"))
	e.afterSave("USER.md", "b", errors.New("the disk is full"))
	if p.viewer == nil {
		t.Fatal("a file that was not saved is closed")
	}
	p.Back()
	test.Tap(pagetest.Button(t, p.Box, "Save and close"))
	e.afterSave("USER.md", "b", nil)
	if p.viewer != nil {
		t.Error("a saved file stays open")
	}

	p, _ = inEditor(t, File{Path: "USER.md", Text: "a"})
	if !p.Back() || p.viewer != nil {
		t.Error("a file without changes is not left")
	}
}
