package palette

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// open shows a palette over a window with a field that has the focus.
func open(t *testing.T, mode style.Mode, width float32) (*View, fyne.Window, *pagetest.Host, *widgets.Entry) {
	t.Helper()
	ctx, app := pagetest.Start(t, mode)
	field := widgets.NewEntry()
	field.Name = "Behind the palette"
	w := pagetest.Window(t, field, width, 600)
	w.Canvas().Focus(field)
	h := &pagetest.Host{}
	app.Feed.Machines.Update(func(l *feed.MachineList) { *l = feed.MachineList{{ID: "tower", Name: "Tower", Online: true}} })
	v := Show(ctx, h, NewModel(app.Feed, []Entry{
		{Icon: "plus", Title: "New chat", Kind: "Action", Do: func() { h.Did = append(h.Did, "new chat") }},
		{Icon: "machine", Title: "Machines", Kind: "Page", Target: host.Page("Machines")},
	}), w.Canvas())
	return v, w, h, field
}

func key(w fyne.Window, name fyne.KeyName) {
	w.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: name})
}

func TestPaletteIsUsedByKeyboard(t *testing.T) {
	_, w, h, field := open(t, style.Light, 800)
	test.Type(w.Canvas().Focused(), "mach")
	key(w, fyne.KeyReturn)
	if want := []string{"page Machines"}; !slices.Equal(h.Did, want) {
		t.Errorf("got %q, want %q", h.Did, want)
	}
	if w.Canvas().Overlays().Top() != nil || w.Canvas().Focused() != fyne.Focusable(field) {
		t.Errorf("got the overlay %v and the focus on %T, want none and the field before", w.Canvas().Overlays().Top(), w.Canvas().Focused())
	}
}

func TestArrowsGoAround(t *testing.T) {
	v, w, h, _ := open(t, style.Light, 800)
	test.Type(w.Canvas().Focused(), "n")
	n := len(v.entries)
	if n < 2 {
		t.Fatalf("got %d entries, want several", n)
	}
	key(w, fyne.KeyUp)
	if v.current != n-1 {
		t.Errorf("got line %d after Up, want the last of %d", v.current, n)
	}
	key(w, fyne.KeyDown)
	if v.current != 0 {
		t.Errorf("got line %d after Down, want the first", v.current)
	}
	key(w, fyne.KeyReturn)
	if want := []string{"new chat"}; !slices.Equal(h.Did, want) {
		t.Errorf("got %q, want %q", h.Did, want)
	}
}

func TestEscClearsAndThenCloses(t *testing.T) {
	v, w, h, field := open(t, style.Light, 800)
	test.Type(w.Canvas().Focused(), "nothing like it")
	if !v.note.Visible() || len(v.entries) != 0 {
		t.Errorf("got %d entries and the note shown: %v, want none and the note", len(v.entries), v.note.Visible())
	}
	key(w, fyne.KeyReturn) // chooses nothing
	key(w, fyne.KeyEscape)
	if v.field.Text != "" || v.note.Visible() {
		t.Errorf("got %q and the note shown: %v, want an empty field without it", v.field.Text, v.note.Visible())
	}
	key(w, fyne.KeyEscape)
	if w.Canvas().Overlays().Top() != nil || w.Canvas().Focused() != fyne.Focusable(field) || len(h.Did) != 0 {
		t.Errorf("got the overlay %v and %q, want it closed and nothing done", w.Canvas().Overlays().Top(), h.Did)
	}
}

func TestClickBesideClosesPalette(t *testing.T) {
	_, w, _, _ := open(t, style.Light, 800)
	test.TapCanvas(w.Canvas(), fyne.NewPos(5, 590))
	if w.Canvas().Overlays().Top() != nil {
		t.Error("got a palette after a click beside it, want it closed")
	}
}

func TestPaletteFitsNarrowWindows(t *testing.T) {
	for _, width := range []float32{480, 1120} {
		v, w, _, _ := open(t, style.Dark, width)
		if pos, size := v.box.Position(), v.box.Size(); pos.X < 0 || pos.X+size.Width > width || pos.Y+size.Height > 600 {
			t.Errorf("in a window of %v: got %v at %v, want it inside", width, size, pos)
		}
		pagetest.Fits(t, w)
		pagetest.Largest(w)
		if pos, size := v.box.Position(), v.box.Size(); pos.X+size.Width > width || pos.Y+size.Height > 600 {
			t.Errorf("largest text in a window of %v: got %v at %v, want it inside", width, size, pos)
		}
	}
}

func TestFilesBelowAppearWithoutMovingTheChosenLine(t *testing.T) {
	run(t, func(t *testing.T, m *Model, g *feedtest.Gateway) {
		feedtest.On(g, protocol.FilesFind, func(p protocol.FilesFindParams) (protocol.FilesFindResult, error) {
			if p.Query != "machine" {
				return protocol.FilesFindResult{}, nil
			}
			return protocol.FilesFindResult{Path: "/home/ann", Found: []protocol.FoundFile{{Path: "a/machine.txt"}}}, nil
		})
		pagetest.App(t)
		w := pagetest.Window(t, widgets.NewParagraph("", style.ColorText, "text"), 800, 600)
		h := &pagetest.Host{}
		v := Show(t.Context(), h, m, w.Canvas())
		defer v.Close()
		pagetest.Settle()
		test.Type(v.field, "mach")
		pagetest.Settle()
		test.Type(v.field, "ine")
		key(w, fyne.KeyDown)
		before := titles(v.entries)
		time.Sleep(2 * typingPause)
		pagetest.Settle()
		if got := titles(v.entries); got != before+", machine.txt" || v.current != 1 {
			t.Errorf("got %q and line %d, want %q, the file and line 1", got, v.current, before)
		}
		if got := len(g.Called(protocol.FilesFind.Name)); got != 1 {
			t.Errorf("got %d searches, want one of what was typed at last", got)
		}
		v.field.SetText("machine.txt")
		if !v.note.Visible() || v.note.Text() != searching {
			t.Errorf("got %q, want %q until the files were searched", v.note.Text(), searching)
		}
		time.Sleep(2 * typingPause)
		pagetest.Settle()
		if v.note.Text() != nothingFound {
			t.Errorf("got %q, want %q", v.note.Text(), nothingFound)
		}
	})
}

func TestEnterWaitsForTheFile(t *testing.T) {
	run(t, func(t *testing.T, m *Model, g *feedtest.Gateway) {
		feedtest.On(g, protocol.FilesFind, func(protocol.FilesFindParams) (protocol.FilesFindResult, error) {
			return protocol.FilesFindResult{Path: "/home/ann", Found: []protocol.FoundFile{{Path: "a/deep.txt"}}}, nil
		})
		pagetest.App(t)
		w := pagetest.Window(t, widgets.NewParagraph("", style.ColorText, "text"), 800, 600)
		h := &pagetest.Host{}
		v := Show(t.Context(), h, m, w.Canvas())
		test.Type(v.field, "deep") // before the settings are loaded
		key(w, fyne.KeyReturn)
		pagetest.Settle()
		time.Sleep(2 * typingPause)
		pagetest.Settle()
		if len(h.Did) != 1 || !strings.Contains(h.Did[0], "deep.txt") {
			t.Errorf("got %q, want the file opened", h.Did)
		}
	})
}
