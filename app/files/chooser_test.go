package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/pagetest"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/system"
)

// inChooser shows a chooser of a folder with files, folders and a hidden file.
func inChooser(t *testing.T, q system.Question) (c *Chooser, dir string, answers *[]string) {
	t.Helper()
	ctx, _ := pagetest.Start(t, style.Light)
	dir = t.TempDir()
	for _, name := range []string{"sub/inner.txt", "a.txt", "b.txt", ".hidden"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	answers = new([]string)
	q.Dir = dir
	prefs := new(preferences.Store)
	prefs.Update(func(r *preferences.Preferences) { r.RecentFolders = []string{dir} })
	c = NewChooser(ctx, q, prefs, func(paths []string) { *answers = append(*answers, strings.Join(paths, " ")) })
	pagetest.Window(t, c.Box, 780, 540)
	pagetest.Settle()
	c.Focus()
	return c, dir, answers
}

func (c *Chooser) visibleNames() (list []string) {
	for _, e := range c.list.entries {
		list = append(list, e.Name())
	}
	return list
}

func TestAChooserOpensSelectedFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir, answers := inChooser(t, system.Question{Kind: system.OpenFiles, Title: "Attach files", Button: "Attach"})
		if got := c.visibleNames(); !slices.Equal(got, []string{"sub", "a.txt", "b.txt"}) {
			t.Fatalf("shows: got %v, want %v", got, []string{"sub", "a.txt", "b.txt"})
		}
		if !c.confirm.Disabled() {
			t.Error("nothing is selected, and the button is active")
		}
		c.list.TypedRune('T') // typing filters
		c.list.TypedRune('x')
		if got := c.visibleNames(); !slices.Equal(got, []string{"a.txt", "b.txt"}) {
			t.Errorf("shows: got %v, want %v", got, []string{"a.txt", "b.txt"})
		}
		c.list.TypedShortcut(&fyne.ShortcutSelectAll{})
		pagetest.Shows(t, c.Box, "2 selected, 8 B")
		test.Tap(pagetest.Button(t, c.Box, "Attach"))
		if want := filepath.Join(dir, "a.txt") + " " + filepath.Join(dir, "b.txt"); !slices.Equal(*answers, []string{want}) {
			t.Errorf("answers %q, want %q", *answers, want)
		}
		c.filter.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape}) // clears
		c.filter.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
		if len(*answers) != 2 || (*answers)[1] != "" {
			t.Errorf("answers %q after Escape", *answers)
		}
	})
}

func TestAChooserAsksBeforeItReplacesAFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir, answers := inChooser(t, system.Question{Kind: system.SaveFile, Title: "Export chat", Button: "Save", Name: "new.md"})
		if got := c.name.SelectedText(); got != "new" {
			t.Errorf("%q is selected, want the name without its extension", got)
		}
		save := func(name string) {
			t.Helper()
			c.name.SetText(name)
			c.accept()
			pagetest.Settle()
		}
		save("a.txt")
		pagetest.Shows(t, c.Box, "Replace the existing file “a.txt”?")
		if len(*answers) != 0 {
			t.Fatalf("answers %q without a question", *answers)
		}
		save("b.txt")
		if len(*answers) != 0 {
			t.Fatalf("answers %q: the question was about another file", *answers)
		}
		test.Tap(pagetest.Button(t, c.Box, "Replace"))
		pagetest.Settle()
		save("none/x.md")
		pagetest.Shows(t, c.Box, "This folder does not exist")
		save("sub")
		if c.dir != filepath.ToSlash(dir)+"/sub" {
			t.Errorf("shows: got %s, want %q", c.dir, filepath.ToSlash(dir)+"/sub")
		}
		save("new.md")
		if want := []string{filepath.Join(dir, "b.txt"), filepath.Join(dir, "sub", "new.md")}; !slices.Equal(*answers, want) {
			t.Errorf("answers %q, want %q", *answers, want)
		}
	})
}

func TestAChooserOfFoldersCreatesOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir, answers := inChooser(t, system.Question{Kind: system.ChooseFolder, Title: "Choose folder", Button: "Choose"})
		if got := c.visibleNames(); !slices.Equal(got, []string{"sub"}) {
			t.Fatalf("shows: got %v, want %v", got, []string{"sub"})
		}
		test.Tap(pagetest.Button(t, c.Box, "New folder"))
		pagetest.Settle()
		if c.list.renaming != filepath.ToSlash(dir)+"/New folder" {
			t.Fatalf("%q is being renamed, want %q", c.list.renaming, filepath.ToSlash(dir)+"/New folder")
		}
		c.list.finishRename("sub")
		pagetest.Settle()
		pagetest.Shows(t, c.Box, "This name is taken")
		c.rename(filepath.ToSlash(dir)+"/New folder", "letters")
		pagetest.Settle()
		pagetest.Shows(t, c.Box, "There are no folders here")
		test.Tap(pagetest.Button(t, c.Box, "Choose"))
		if want := []string{filepath.Join(dir, "letters")}; !slices.Equal(*answers, want) {
			t.Errorf("answers %q, want %q", *answers, want)
		}
	})
}

func TestAChooserSaysWhyAFolderIsNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir, _ := inChooser(t, system.Question{Kind: system.OpenFiles, Button: "Attach"})
		c.ToggleHidden()
		if got := c.visibleNames(); !slices.Contains(got, ".hidden") {
			t.Errorf(`shows: got %v, want ".hidden" in it`, got)
		}
		c.Enter(filepath.ToSlash(dir) + "/gone")
		pagetest.Settle()
		pagetest.Shows(t, c.Box, "no longer exists")
		c.up()
		pagetest.Settle()
		if len(c.list.entries) == 0 || c.dir != filepath.ToSlash(dir) {
			t.Errorf("%s has %v; want some list.entries and dir %v", c.dir, c.visibleNames(), filepath.ToSlash(dir))
		}
	})
}

func TestCrumbsLeadFromTheRoot(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]string{"/": "", "/home/ann": "/home /home/ann", "C:/Users/ann": "C:/ C:/Users C:/Users/ann"} {
		var got []string
		for _, c := range localCrumbs(dir) {
			got = append(got, c.Dir)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}
