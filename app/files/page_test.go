package files

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/code"
	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

func newTestPage(t *testing.T) *Page {
	t.Helper()
	ctx, app := pagetest.Start(t, style.Light)
	p := newPage(ctx, host.Env{Host: &pagetest.Host{}, Feed: app.Feed, Drafts: app.Drafts, Prefs: new(preferences.Store)})
	pagetest.Window(t, p.Box, 880, 500)
	return p
}

func folder() View {
	return View{
		Place: "nas", Note: "The newest 10000 of 70000 files.", Dir: "src",
		Entries: []Entry{{Path: "src/deep", Dir: true}, {Path: "src/main.go"}, {Path: "src/" + strings.Repeat("a long name ", 20) + ".txt"}},
	}
}

func TestViewsMatchGolden(t *testing.T) {
	p := newTestPage(t)
	golden.Markup(t, "loading", p.Box)
	p.e.Feed.Machines.Update(func(l *feed.MachineList) { *l = []protocol.NodeInfo{{ID: "nas", Name: "The box", Online: true}} })
	p.show(folder())
	golden.Markup(t, "folder", p.Box)
	v := folder()
	v.File = &File{Path: "src/main.go", Text: "package main\n\nfunc main() {}\n", Truncated: true}
	p.show(v)
	golden.Markup(t, "file", p.Box)
	v.File = &File{Path: "src/x", Problem: "It is a program, of 3 MB."}
	p.show(v)
	golden.Markup(t, "unreadable", p.Box)
	p.show(View{Place: "", Entries: []Entry{{Path: "SOUL.md"}}})
	golden.Markup(t, "agent", p.Box)
	p.show(View{File: &File{Path: "SOUL.md", Text: "be kind", Editable: true}})
	golden.Markup(t, "editor", p.Box)
	p.show(View{Problem: "the machine is offline", Place: "nas"})
	golden.Markup(t, "problem", p.Box)
	p.show(View{Place: "nas"})
	golden.Markup(t, "empty", p.Box)
}

func TestFilterKeepsTheKeyboardWhileTheListChanges(t *testing.T) {
	p := newTestPage(t)
	p.show(folder())
	frame := p.Box.Objects[0]
	v := folder()
	v.Filter = "x"
	p.show(v)
	v.Entries = nil
	p.show(v)
	if p.Box.Objects[0] != frame {
		t.Error("the field was replaced while the person types")
	}
	if !strings.Contains(test.RenderObjectToMarkup(p.Box), "Nothing found") {
		t.Error("it does not say that nothing was found")
	}
}

func TestOpenedFileTakesTheFocus(t *testing.T) {
	p := newTestPage(t)
	p.show(folder())
	p.focus()
	canvas := fyne.CurrentApp().Driver().CanvasForObject(p.Box)
	if canvas.Focused() != fyne.Focusable(p.list) {
		t.Fatalf("%T has the keyboard, want %T", canvas.Focused(), fyne.Focusable(p.list))
	}
	v := folder()
	v.File = &File{Path: "src/main.go"}
	p.show(v)
	if canvas.Focused() != nil {
		t.Errorf("%T has the keyboard while a file is shown", canvas.Focused())
	}
	pagetest.Shows(t, p.Box, "This file is empty")
	p.Back()
	p.show(folder()) // as its view model does
	if canvas.Focused() != fyne.Focusable(p.list) {
		t.Errorf("%T has the keyboard after the file, want %T", canvas.Focused(), fyne.Focusable(p.list))
	}
}

func TestNewFileIsRestored(t *testing.T) {
	p := newTestPage(t)
	p.show(View{Entries: []Entry{{Path: "SOUL.md"}}})
	open := func() *editor {
		test.Tap(pagetest.Button(t, p.Box, "New file"))
		return p.viewer.edit
	}
	e := open()
	e.name.SetText("ideas.md")
	e.text.SetText("one")
	test.Tap(pagetest.Button(t, p.Box, "All files"))
	if e = open(); e.name.Text != "ideas.md" || e.text.Text != "one" {
		t.Fatalf("New file after the return: got %q with %q, want what was typed", e.name.Text, e.text.Text)
	}
	pagetest.Shows(t, p.Box, widgets.DraftRestored)
	test.Tap(pagetest.Button(t, p.Box, "Discard"))
	test.Tap(pagetest.Button(t, p.Box, "All files"))
	if e = open(); e.name.Text != "" || e.text.Text != "" {
		t.Errorf("New file after Discard: got %q with %q, want nothing", e.name.Text, e.text.Text)
	}
	e.name.SetText("saved.md")
	e.text.SetText("two")
	e.afterSave("saved.md", "two", nil)
	test.Tap(pagetest.Button(t, p.Box, "All files"))
	if e = open(); e.name.Text != "" || e.text.Text != "" {
		t.Errorf("New file after another was saved: got %q with %q, want nothing", e.name.Text, e.text.Text)
	}
}

func TestLongNameKeepsItsEnd(t *testing.T) {
	pagetest.Start(t, style.Light)
	name := "A report about the second quarter of the year, with all that was said at the meeting (final).pdf"
	for _, width := range []float32{40, 120, 300, 500} {
		got := shortenMiddle(name, width)
		if w := fyne.MeasureText(got, style.Size("text"), fyne.TextStyle{}).Width; w > width && width > 40 {
			t.Errorf("%q is %g wide, not %g", got, w, width)
		}
		if width >= 300 && (!strings.HasPrefix(got, "A report") || !strings.HasSuffix(got, ").pdf")) {
			t.Errorf(`at %g: %q; want width below 300 or a text that begins with "A report" and a text that ends with ").pdf"`, width, got)
		}
	}
	if shortenMiddle("main.go", 300) != "main.go" || shortenMiddle(name, 2000) != name {
		t.Error("a name that fits is cut")
	}
}

func TestALongSourceIsColouredBesideTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPage(t)
		// the real one starts a timer, which must not start in a bubble
		p.highlight = func(text, name string) []code.Line {
			if len(text) != 50_000 || name != "main.go" {
				t.Errorf(`%d bytes of %s; want 50000 and "main.go"`, len(text), name)
			}
			return make([]code.Line, 1)
		}
		v := folder()
		v.File = &File{Path: "src/main.go", Text: strings.Repeat("// a line of a long file\n", 2000)}
		p.show(v)
		panel := func() (found *code.Panel) {
			widgettest.Visit(p.Box, func(o fyne.CanvasObject) {
				if c, ok := o.(*code.Panel); ok {
					found = c
				}
			})
			return found
		}
		if got := panel().Lines(); got != 2000 {
			t.Errorf("before it is coloured the window shows %d lines, want 2000", got)
		}
		pagetest.Settle()
		if panel().Lines() != 1 {
			t.Errorf("then it shows %d lines, want 1", panel().Lines())
		}
	})
}

func TestListSaysThatItsMachineIsOffline(t *testing.T) {
	// the requests after reconnecting have failed before the test ends
	synctest.Test(t, func(t *testing.T) {
		p := newMachinePage(t)
		const says = "The machine is offline. This is its last known state · 4 items"
		p.watchMachine(feed.View{Machines: []protocol.NodeInfo{{ID: "nas"}}})
		pagetest.Shows(t, p.Box, says)
		p.watchMachine(feed.View{Machines: []protocol.NodeInfo{{ID: "nas", Online: true}}})
		if strings.Contains(golden.Words(p.Box), "offline") {
			t.Error("it is back, and the list says that it is offline")
		}
		p.watchMachine(feed.View{})
		pagetest.Shows(t, p.Box, says)
		pagetest.Settle()
	})
}

func TestMarkdownIsRenderedUnlessSourceIsChosen(t *testing.T) {
	p := newMachinePage(t)
	v := filesOfMachine()
	v.File = &File{Path: "README.md", Text: "# A project\n\nWith *one* line.\n"}
	p.show(v)
	source := func() bool { return strings.Contains(golden.Words(p.Box), "# A project") }
	if source() {
		t.Error("the source is shown at first")
	}
	toggle := pagetest.Button(t, p.Box, "Source")
	test.Tap(toggle)
	if !source() || toggle.Text != "Rendered" {
		t.Errorf("the source is not shown, the button says %q", toggle.Text)
	}
	test.Tap(toggle)
	if source() {
		t.Error("the source stays")
	}
}

func TestOnlyWholeTextFilesOfferToBeEdited(t *testing.T) {
	for name, c := range map[string]struct {
		file     File
		readOnly bool
		want     bool
	}{
		"text":                    {file: File{Text: "x"}, want: true},
		"text, cut":               {file: File{Text: "x", Truncated: true}},
		"in a folder to read":     {file: File{Text: "x"}, readOnly: true},
		"a file that is no text":  {file: File{Problem: "It is a program, of 3 MB."}},
		"an empty file, editable": {file: File{}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newMachinePage(t)
			v := filesOfMachine()
			c.file.Path = "a.txt"
			v.File, v.ReadOnly = &c.file, c.readOnly
			p.show(v)
			found := widgettest.Find(p.Box, func(b *widgets.Button) bool { return b.Text == "Edit" })
			if (found != nil) != c.want {
				t.Errorf("it can be edited: %v, want %v", found != nil, c.want)
			}
		})
	}
}

func TestOpenedPageFocusesItsList(t *testing.T) {
	p := newTestPage(t)
	p.focusPending = true
	p.show(View{Place: "nas", Loading: true})
	canvas := fyne.CurrentApp().Driver().CanvasForObject(p.Box)
	if canvas.Focused() != nil {
		t.Fatalf("%T has the keyboard while the list loads", canvas.Focused())
	}
	p.show(folder())
	if canvas.Focused() != fyne.Focusable(p.list) {
		t.Errorf("%T has the keyboard, want %T", canvas.Focused(), fyne.Focusable(p.list))
	}
	canvas.Unfocus()
	v := folder()
	v.Entries = v.Entries[:1]
	p.show(v)
	if canvas.Focused() != nil {
		t.Error("a change takes the keyboard again")
	}
}

func TestShownFileFollowsTheDisk(t *testing.T) {
	p := newMachinePage(t)
	v := filesOfMachine()
	v.File = &File{Path: "a.txt", Text: "before"}
	p.show(v)
	shown := p.viewer
	p.show(v)
	if p.viewer != shown {
		t.Error("it is drawn again without a change")
	}
	again := v
	again.File = &File{Path: "a.txt", Text: "after"}
	p.show(again)
	pagetest.Shows(t, p.Box, "after")
}

func TestABinaryFileSaysThatItHasNoPreview(t *testing.T) {
	p := newMachinePage(t)
	v := filesOfMachine()
	v.File = &File{Path: "b.png", Binary: true}
	p.show(v)
	pagetest.Shows(t, p.Box, "No preview", "The file has 2.0 kB.", "Copy to this computer…")
}

func TestReadingAidsGetTheFilesInView(t *testing.T) {
	p := newMachinePage(t)
	p.list.selection.One(1)
	var got []string
	for _, row := range p.list.AccessibleParts() {
		got = append(got, row.(*widgets.Echo).Label)
	}
	if want := []string{"src, folder", "a.txt, 1 B, selected"}; len(got) != len(p.list.entries) || !slices.Equal(got[:2], want) {
		t.Errorf("got %q, want %d rows that begin with %q", got, len(p.list.entries), want)
	}
}
