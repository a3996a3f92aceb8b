package widgets

import (
	"fmt"
	"image"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"fairlead/app/golden"
	"fairlead/app/style"
)

func window(t *testing.T, o fyne.CanvasObject, w, h float32) fyne.Window {
	t.Helper()
	test.NewTempApp(t)
	test.ApplyTheme(t, style.New(style.Light, 1))
	win := test.NewTempWindow(t, o)
	win.SetPadded(false)
	win.Resize(fyne.NewSize(w, h))
	return win
}

// each visits all visible objects.
func each(o fyne.CanvasObject, visit func(fyne.CanvasObject)) {
	if !o.Visible() {
		return
	}
	visit(o)
	switch o := o.(type) {
	case *fyne.Container:
		for _, c := range o.Objects {
			each(c, visit)
		}
	case fyne.Widget:
		for _, c := range test.WidgetRenderer(o).Objects() {
			each(c, visit)
		}
	}
}

func find[T fyne.CanvasObject](o fyne.CanvasObject, ok func(T) bool) (found T) {
	each(o, func(c fyne.CanvasObject) {
		if v, is := c.(T); is && c.Visible() && ok(v) {
			found = v
		}
	})
	return found
}

func button(o fyne.CanvasObject, text string) *Button {
	return find(o, func(b *Button) bool { return b.Text == text })
}

func TestMarkdownOpensLinksOnlyWhenTappedAndOnlySafeOnes(t *testing.T) {
	var opened []string
	m := NewMarkdown()
	m.OnLink = func(u *url.URL) { opened = append(opened, u.String()) }
	window(t, m, 500, 300)
	m.SetText("[ok](https://example.com/a) [mail](mailto:a@b.c) [file](file:///etc/passwd) [js](javascript:alert(1)) ![pic](https://evil.example/x.png)\n\n![ref][r]\n\n[r]: https://evil.example/y.png")
	each(m, func(o fyne.CanvasObject) {
		if strings.Contains(strings.ToLower(fmt.Sprintf("%T", o)), "image") {
			t.Errorf("a picture is shown: %T", o)
		}
	})
	if len(opened) != 0 {
		t.Fatalf("opened by itself: %v", opened)
	}
	for _, passage := range m.Passages() {
		p := passage.(*Prose)
		for y := range int(p.Size().Height) {
			for x := range int(p.Size().Width) {
				p.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(float32(x), float32(y))}})
				if u := p.Hover(); u != nil && p.Cursor() == desktop.PointerCursor && !slices.Contains(opened, u.String()) {
					p.Tapped(&fyne.PointEvent{Position: fyne.NewPos(float32(x), float32(y))})
				}
			}
		}
	}
	if got := strings.Join(opened, " "); got != "https://example.com/a mailto:a@b.c https://evil.example/x.png" {
		t.Errorf("opened %q", got)
	}
}

func TestMarkdownTakesTheBackslashFromEscapedSignsOnly(t *testing.T) {
	for source, want := range map[string]string{
		`list \*.md, \!now`:   "list *.md, !now",
		`C:\dir and \d`:       `C:\dir and \d`,
		"the code `a\\*b`":    `the code a\*b`,
		`*all \_of\_ it*`:     "all _of_ it",
		`[a \[b\]](http://c)`: "a [b]",
	} {
		if got := newProse(parseProse(source)).Words(); got != want {
			t.Errorf("%s shows %q, want %q", source, got, want)
		}
	}
}

func TestMarkdownSurvivesWhatFynesParserPanicsOn(t *testing.T) {
	m := NewMarkdown()
	window(t, m, 400, 300)
	for _, text := range []string{"- [ ] **bold**", "- [x] `code`", "- [ ]", "> - [ ] *a*\n> - b", "|a|\n|-|\n", "# ", "![", "[](", "```"} {
		m.SetText(text)
	}
}

func TestMarkdownKeepsTheWidgetsOfSettledBlocks(t *testing.T) {
	m := NewMarkdown()
	window(t, m, 400, 600)
	m.SetText("First paragraph.\n\n```go\nx := 1\n```\n\nThe tail")
	before := append([]fyne.CanvasObject{}, m.box.Objects...)
	m.SetText("First paragraph.\n\n```go\nx := 1\n```\n\nThe tail grows and grows")
	for i := range 3 {
		if m.box.Objects[i] != before[i] {
			t.Errorf("block %d got another widget", i)
		}
	}
}

func TestCodeBlockCopiesItsCode(t *testing.T) {
	m := NewMarkdown()
	copied := ""
	m.OnCopy = func(s string) { copied = s }
	window(t, m, 400, 300)
	m.SetText("```go\nfunc main() {}\n```")
	test.Tap(button(m, "Copy"))
	if copied != "func main() {}" {
		t.Errorf("copied %q", copied)
	}
}

func TestToolCardOpensByKeyboardAndByMouse(t *testing.T) {
	c := NewToolCard()
	var toggled []bool
	c.OnToggle = func(open bool) { toggled = append(toggled, open) }
	win := window(t, c, 500, 300)
	c.Set(Tool{Verb: "Bash", Machine: "server", Argument: "make", State: ToolDone, Time: "0.2 s", Output: "ok"})
	test.Tap(c.head)
	win.Canvas().Focus(c.head)
	c.head.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	c.head.TypedKey(&fyne.KeyEvent{Name: fyne.KeyRight})
	c.head.TypedKey(&fyne.KeyEvent{Name: fyne.KeyRight})
	if len(toggled) != 3 || !toggled[0] || toggled[1] || !toggled[2] {
		t.Errorf("toggled %v", toggled)
	}
}

func TestWaitingCardAsksAndAllowIsNotReadyAtOnce(t *testing.T) {
	c := NewToolCard()
	var did []string
	c.OnAllow = func() { did = append(did, "allow") }
	c.OnDeny = func() { did = append(did, "deny") }
	c.OnReview = func() { did = append(did, "review") }
	window(t, c, 500, 300)
	tool := Tool{Verb: "Edit", Machine: "server", Argument: "a.go", State: ToolWaiting, Word: "waiting for you", Question: true}
	c.Set(tool)
	test.Tap(button(c, "Allow once"))
	if len(did) != 0 {
		t.Fatal("Allow was pressed before it was ready")
	}
	tool.Armed = true
	c.Set(tool)
	for _, b := range []string{"Review…", "Deny", "Allow once"} {
		test.Tap(button(c, b))
	}
	if got := strings.Join(did, " "); got != "review deny allow" {
		t.Errorf("did %q", got)
	}
	tool.State, tool.Question, tool.Word = ToolDenied, false, "denied"
	c.Set(tool)
	if button(c, "Allow once") != nil {
		t.Error("an answered question still has buttons")
	}
}

func TestEveryStateOfAToolCardHasAWordOrAnIcon(t *testing.T) {
	for s := ToolWaiting; s <= ToolUnknown; s++ {
		icon, _ := stateIcon(s)
		// these have a text from the caller, and a dot
		if icon == "" && s != ToolWaiting && s != ToolRunning {
			t.Errorf("state %d has only a colour", s)
		}
	}
}

func TestToastUndoesWithinItsTime(t *testing.T) {
	undone := 0
	toast := NewToast()
	window(t, toast, 400, 60)
	start := time.Unix(100, 0)
	toast.Say("Deleted", func() { undone++ }, start, start.Add(10*time.Second))
	toast.Tick(start.Add(9 * time.Second))
	test.Tap(toast.undo)
	if undone != 1 || toast.Visible() {
		t.Fatal("Undo should undo once and close the bar")
	}
	toast.Say("Deleted", func() { undone++ }, start, start.Add(10*time.Second))
	toast.Tick(start.Add(10 * time.Second))
	if toast.Visible() {
		t.Error("the bar should go when its time is over")
	}
}

func TestALongMessageWrapsAndIsNotCut(t *testing.T) {
	height := func(text string) float32 {
		toast := NewToast()
		window(t, toast, 420, 120)
		toast.Say(text, nil, time.Unix(100, 0), time.Unix(101, 0))
		return Fit(toast, 420)
	}
	line := height("Deleted.")
	if lines := height(strings.Repeat("Someone new wants to write to the agent. ", 4)); lines < 1.5*line {
		t.Errorf("a long message is %g high, a short one %g", lines, line)
	}
}

func TestPanelInATranscriptPassesOnTheWheel(t *testing.T) {
	p := NewCodePanel(60)
	var passed float32
	p.SetForward(func(e *fyne.ScrollEvent) { passed += e.Scrolled.DY })
	window(t, p, 300, 80)
	p.SetText(strings.Repeat("line\n", 5))
	p.pan.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -10)})
	if passed != 0 || p.pan.offset.Y != 10 {
		t.Fatalf("the panel should scroll itself first: passed %v, at %v", passed, p.pan.offset.Y)
	}
	p.pan.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -1000)})
	if passed >= 0 {
		t.Error("at its end the wheel should go on to the transcript")
	}
}

func TestFollowingPanelKeepsItsEndInView(t *testing.T) {
	p := NewCodePanel(100)
	p.Follow(true)
	window(t, p, 300, 100)
	p.SetText(strings.Repeat("line\n", 50))
	end := p.pan.offset.Y
	if end == 0 {
		t.Fatal("the end is not in view")
	}
	p.SetText(strings.Repeat("line\n", 60))
	if p.pan.offset.Y <= end {
		t.Error("the view did not follow")
	}
	p.pan.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, 50)})
	at := p.pan.offset.Y
	p.SetText(strings.Repeat("line\n", 70))
	if p.pan.offset.Y != at {
		t.Error("the view followed although the reader went up")
	}
}

func TestCodeDrawsOnlyTheLinesInView(t *testing.T) {
	p := NewCodePanel(200)
	window(t, p, 400, 200)
	p.SetText(strings.Repeat("some line\n", 50_000))
	if _, area := p.code.area(); area.Height > 220 {
		t.Errorf("a picture %g high is drawn of 50,000 lines", area.Height)
	}
}

func TestALineThatGoesOnBesideTheViewSaysSo(t *testing.T) {
	p := NewCodePanel(0)
	window(t, p, 200, 60)
	p.SetText("a" + strings.Repeat(" ", 200) + "b\nshort")
	cell := codeCell()
	drawn := func(line int, x float32) bool {
		_, area := p.code.area()
		img := p.code.draw(int(area.Width), int(area.Height)).(*image.RGBA)
		if x < 0 {
			x += area.Width
		}
		for dy := range int(cell.Height) {
			for dx := range int(2 * cell.Width) { // it is at the position of a letter
				if img.RGBAAt(int(x)+dx, int(cell.Height)*line+dy).A > 0 {
					return true
				}
			}
		}
		return false
	}
	if !drawn(0, -2*cell.Width) || drawn(1, -2*cell.Width) {
		t.Error("where the line is cut, nothing says that it goes on; or the short one says it")
	}
	p.pan.moveTo(fyne.NewPos(100*cell.Width, 0))
	if !drawn(0, 0) || !drawn(0, -2*cell.Width) || !drawn(1, 0) {
		t.Error("in its middle it does not say that it goes on at both ends")
	}
	p.pan.moveTo(fyne.NewPos(300*cell.Width, 0))
	if !drawn(0, 0) {
		t.Error("at its end it does not say that there is more before")
	}
}

func TestSearchFieldKeys(t *testing.T) {
	s := NewSearchField("Search", "Ctrl K")
	moved, cancelled := 0, false
	s.OnMove = func(by int) { moved += by }
	s.OnCancel = func() { cancelled = true }
	window(t, s, 200, 40)
	test.Type(s, "abc")
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if s.Text != "" || cancelled || moved != 1 {
		t.Fatalf("%q %v %d", s.Text, cancelled, moved)
	}
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if !cancelled {
		t.Error("Escape in an empty field should cancel")
	}
}

func TestNarrowCardsAreNotWiderThanTheirWindow(t *testing.T) {
	c := NewToolCard()
	window(t, c, 432, 200)
	c.Set(Tool{Verb: "Bash", Machine: "a-machine-with-a-very-long-name", Argument: strings.Repeat("long ", 100), State: ToolRunning, Time: "running 1 h 12 min", CanStop: true, Output: strings.Repeat("x", 1000)})
	c.SetOpen(true)
	if w := c.MinSize().Width; w > 432 {
		t.Errorf("the card wants %v", w)
	}
}

func TestWidgetsLookAsTheyDid(t *testing.T) {
	window(t, NewRect("", "", 0), 10, 10) // the theme must be set before creating widgets
	shown := map[string]fyne.CanvasObject{
		"sidebarrow": NewSidebarRow(SidebarItem{Icon: "online", Title: "server", Trail: "2 ms", Count: 2}, nil),
		"search":     NewSearchField("Search", "Ctrl K"),
	}
	bash := Tool{Verb: "Bash", Machine: "server", Argument: "make -j4"}
	for name, tool := range map[string]func(*Tool){
		"toolcard": func(c *Tool) {
			*c = Tool{Verb: "Edit", Machine: "server", Argument: "src/parse.c", State: ToolWaiting, Word: "waiting for you", Added: 3, Removed: 1, Question: true, Armed: true}
		},
		"toolcard-running": func(c *Tool) {
			c.State, c.Time, c.CanStop, c.Output = ToolRunning, "running 12 s", true, "cc -O2 -c parse.c"
		},
		"toolcard-done":   func(c *Tool) { c.State, c.Time, c.Output, c.Note = ToolDone, "0.2 s", "built", "exit 0" },
		"toolcard-failed": func(c *Tool) { c.State, c.Word, c.Time = ToolFailed, "exit 2", "3 s" },
		"toolcard-denied": func(c *Tool) { c.State, c.Word = ToolDenied, "denied" },
	} {
		c, shows := NewToolCard(), bash
		tool(&shows)
		c.Set(shows)
		c.SetOpen(shows.Output != "")
		shown[name] = c
	}
	for name, o := range shown {
		win := test.NewTempWindow(t, o)
		win.SetPadded(false)
		win.Resize(fyne.NewSize(500, max(90, o.MinSize().Height)))
		golden.Markup(t, name, o)
	}
}

func TestListSaysWhichLineIsAtAPlace(t *testing.T) {
	test.NewTempApp(t)
	l := NewItemList(nil)
	items := make([]ListItem, 40)
	for i := range items {
		items[i].Title = strings.Repeat("x", i)
	}
	l.Set(items)
	w := test.NewTempWindow(t, Inset(30, 10, 10, 20, l))
	w.Resize(fyne.NewSize(300, 400))
	driver := fyne.CurrentApp().Driver()
	seen := 0
	for _, scroll := range []float32{0, 333} {
		l.ScrollToOffset(scroll)
		var rows []*listRow
		var walk func(fyne.CanvasObject)
		walk = func(o fyne.CanvasObject) {
			switch o := o.(type) {
			case *listRow:
				if o.Visible() {
					rows = append(rows, o)
				}
			case *fyne.Container:
				for _, c := range o.Objects {
					walk(c)
				}
			case fyne.Widget:
				for _, c := range test.WidgetRenderer(o).Objects() {
					walk(c)
				}
			}
		}
		walk(l)
		for _, r := range rows {
			at := driver.AbsolutePositionForObject(r).AddXY(5, r.Size().Height/2)
			if from := driver.AbsolutePositionForObject(l); at.Y < from.Y || at.Y >= from.Y+l.Size().Height {
				continue
			}
			seen++
			if got := l.At(at); got != r.i {
				t.Errorf("scrolled by %v: at %v is line %d, it says %d", scroll, at, r.i, got)
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d lines were looked at", seen)
	}
	l.ScrollToOffset(0)
	l.Set(items[:1])
	for _, at := range []fyne.Position{{X: 5, Y: 50}, {X: 50, Y: 5}, {X: 50, Y: 300}} {
		if got := l.At(at); got != -1 {
			t.Errorf("at %v is line %d of one", at, got)
		}
	}
}

func TestPicturesOfAMessageStandInAsManyLinesAsTheyNeed(t *testing.T) {
	m := NewMessageView()
	window(t, m, 480, 600)
	var list []fyne.Resource
	for range 5 {
		list = append(list, style.Icon("image"))
	}
	m.Set(Message{From: "You", Text: "Five of them", Plain: true, Images: list})
	Fit(m, 480)
	for i, o := range m.images.Objects {
		if end := o.Position().X + o.Size().Width; end > 480 {
			t.Errorf("picture %d ends at %v of 480", i, end)
		}
	}
	if three := 3 * m.images.Objects[0].Size().Height; m.Size().Height < three {
		t.Errorf("the message is %v high, its pictures need %v", m.Size().Height, three)
	}
}
