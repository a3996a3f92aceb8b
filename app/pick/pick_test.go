package pick

import (
	"context"
	"fmt"
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

// remembered returns preferences with one folder that was used before.
func remembered(dir string) *preferences.Store {
	p := new(preferences.Store)
	p.Update(func(r *preferences.Preferences) { r.RecentFolders = []string{dir} })
	return p
}

// inPicker returns a picker whose desktop answers with ask, and a window to ask in.
func inPicker(t *testing.T, prefs *preferences.Store, ask func(q system.Question) ([]string, error)) (*Picker, fyne.Window, *[]string) {
	t.Helper()
	ctx, _ := pagetest.Start(t, style.Light)
	said := new([]string)
	p := New(ctx, fyne.CurrentApp(), prefs, func(_ context.Context, _ string, q system.Question) ([]string, error) {
		return ask(q)
	}, func(text string) { *said = append(*said, text) })
	return p, test.NewTempWindow(t, nil), said
}

func TestTheDesktopsDialogAnswersAndItsFolderIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prefs := remembered("/old")
		recent := func() []string { return prefs.Get().RecentFolders }
		var asked []system.Question
		answer := []string{"/srv/a.txt", "/srv/b.txt"}
		p, w, said := inPicker(t, prefs, func(q system.Question) ([]string, error) {
			asked = append(asked, q)
			return answer, nil
		})
		var got []string
		p.OpenFiles(w, "Attach files", "Attach", func(paths []string) { got = paths })
		pagetest.Settle()
		if want := (system.Question{Kind: system.OpenFiles, Title: "Attach files", Button: "Attach", Dir: "/old"}); asked[0] != want {
			t.Errorf("asked %+v, want %+v", asked[0], want)
		}
		if !slices.Equal(got, answer) || !slices.Equal(recent(), []string{"/srv", "/old"}) {
			t.Errorf("got %v, recent %v; want %v and recent %v", got, recent(), answer, []string{"/srv", "/old"})
		}
		answer = []string{"/home/ann"}
		p.ChooseFolder(w, "Choose folder", "Choose", func(dir string) { got = []string{dir} })
		pagetest.Settle()
		if !slices.Equal(got, answer) || recent()[0] != "/home/ann" {
			t.Errorf(`got %v, recent %v; want %v and recent[0] "/home/ann"`, got, recent(), answer)
		}
		answer = nil // cancelled
		p.SaveFile(w, "Save file", "a.md", func(string) { t.Error("an answer after Cancel") })
		pagetest.Settle()
		if p.own != nil || len(*said) != 0 {
			t.Errorf("Fairlead's own dialog is open: %v, said %v", p.own != nil, *said)
		}
	})
}

func TestWithoutADialogOfTheDesktopFairleadShowsItsOwn(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.txt", "a.txt", ".hidden"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		p, w, _ := inPicker(t, remembered(dir), func(system.Question) ([]string, error) {
			return nil, fmt.Errorf("%w: no portal", system.ErrNoDialog)
		})
		var got string
		p.OpenFile(w, "Import rules", "Import", func(path string) { got = path })
		pagetest.Settle()
		if p.own == nil || !strings.HasPrefix(p.own.Title(), "Import rules") {
			t.Fatal("there is no dialog")
		}
		pagetest.Shows(t, p.own.Content(), "a.txt", "b.txt", "1 hidden", "RECENT")
		field := p.own.Canvas().Focused()
		field.TypedRune('b')
		field.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
		pagetest.Settle()
		if got != filepath.Join(dir, "b.txt") || p.own != nil {
			t.Errorf("got %q, the dialog is open: %v; want %v and no own", got, p.own != nil, filepath.Join(dir, "b.txt"))
		}
	})
}
