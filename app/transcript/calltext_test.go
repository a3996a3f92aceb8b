package transcript

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"

	"fairlead/app/code"
	"fairlead/app/selection"
	"fairlead/app/style"
)

// cardRow shows a card in a transcript.
type cardRow struct {
	*CallCard
	open map[string]bool
}

func (r *cardRow) Bind(it Item) {
	if t := it.Data.(Call); t.Verb != r.call.Verb {
		r.Reset(r.open[it.Key])
	}
	r.Set(it.Data.(Call))
	r.SetOpen(r.open[it.Key])
}

const (
	textKind = iota
	cardKind
	thoughtKind
)

// thoughtRow shows thinking in a transcript.
type thoughtRow struct {
	*Expander
	open map[string]bool
}

func (r *thoughtRow) Bind(it Item) { r.Expander.Set("Thought", it.Data.(string), r.open[it.Key]) }

// cardTranscript has messages, cards and thinking. Those whose key is in open are expanded.
func cardTranscript(t *testing.T, open map[string]bool, items ...Item) *View {
	test.NewTempApp(t)
	test.ApplyTheme(t, style.New(style.Light, 1))
	var tr *View
	tr = New(func(kind int) Row {
		switch kind {
		case cardKind:
			c := NewCallCard()
			c.OnPress, c.OnTextMoved = tr.Selection.Press, tr.Selection.TextMoved
			return &cardRow{c, open}
		case thoughtKind:
			return &thoughtRow{NewExpander("thinking"), open}
		}
		r := &messageRow{view: NewMessageView()}
		r.ExtendBaseWidget(r)
		return r
	})
	tr.Selection.ItemText = func(it Item) string {
		switch d := it.Data.(type) {
		case Call:
			return d.CopyText(open[it.Key])
		case string:
			if it.Kind != thoughtKind || open[it.Key] {
				return d
			}
		}
		return ""
	}
	w := test.NewTempWindow(t, tr)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(600, 900))
	tr.SetItems(items)
	return tr
}

// middle returns the centre of a rune of a passage in the transcript.
func middle(t *testing.T, tr *View, key string, passage, at int) fyne.Position {
	t.Helper()
	p := tr.rows.visible[key].row.Passages()[passage]
	d := fyne.CurrentApp().Driver()
	corner := d.AbsolutePositionForObject(p).Subtract(d.AbsolutePositionForObject(tr))
	for y := float32(2); y < p.Size().Height; y += 4 {
		for x := float32(0); x < p.Size().Width; x++ {
			if p.Index(fyne.NewPos(x, y)) == at {
				return corner.AddXY(x+1, y)
			}
		}
	}
	t.Fatalf("no place shows rune %d", at)
	return fyne.Position{}
}

func bash(argument, output string) Call {
	return Call{Verb: "Bash", Machine: "server", Argument: argument, State: CallDone, Output: output}
}

func TestMarkingRunsThroughCardsInReadingOrder(t *testing.T) {
	long := "make -j4 VERBOSE=1 && make install"
	card := bash("make -j4 …", "cc one.c\ncc two.c\n")
	card.Input = long
	tr := cardTranscript(
		t, map[string]bool{"open": true, "thought": true},
		Item{Key: "a", Data: "Before the cards."},
		Item{Key: "open", Kind: cardKind, Data: card},
		Item{Key: "folded", Kind: cardKind, Data: bash("ls -la", "hidden")},
		Item{Key: "thought", Kind: thoughtKind, Data: "It is the linker."},
		Item{Key: "hushed", Kind: thoughtKind, Data: "Not seen."},
		Item{Key: "z", Data: "Behind the cards."},
	)
	tr.Selection.Press(tr.rows.visible["a"].row.Passages()[0], 7, 1)
	tr.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: middle(t, tr, "z", 0, 6)}})
	want := "the cards.\n\n" + long + "\n\ncc one.c\ncc two.c\n\nls -la\n\nIt is the linker.\n\nBehind"
	if got := tr.Selection.Text(); got != want {
		t.Errorf("marked %q, want %q", got, want)
	}
	if line := tr.rows.visible["folded"].row.Passages()[0].(*code.LineView); line.Selectable().From != 0 || line.Selectable().To != 6 {
		t.Errorf("of the folded card's line %d to %d are marked; want 0 and 6", line.Selectable().From, line.Selectable().To)
	}
	if out := tr.rows.visible["open"].row.Passages()[2].(*code.View); out.Selectable().From != 0 || out.Selectable().To != out.Selectable().Runes() {
		t.Errorf("of the output %d to %d are marked; want 0 and %d", out.Selectable().From, out.Selectable().To, out.Selectable().Runes())
	}
}

func TestMarkingEndsWithinAnOutput(t *testing.T) {
	tr := cardTranscript(t, map[string]bool{"c": true}, Item{Key: "a", Data: "Before."}, Item{Key: "c", Kind: cardKind, Data: bash("ls -la", "one\ntwo\nthree\n")})
	line := tr.rows.visible["c"].row.Passages()[0].(*code.LineView)
	line.OnPress(line, 3, 1)
	tr.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: middle(t, tr, "c", 2, 6)}})
	if got := tr.Selection.Text(); got != "-la\n\none\ntw" {
		t.Errorf(`marked: got %q, want "-la\n\none\ntw"`, got)
	}
	out := tr.rows.visible["c"].row.Passages()[2].(*code.View)
	out.OnPress(out, 9, 2)
	if got := tr.Selection.Text(); got != "three" {
		t.Errorf(`a second press marked %q, want "three"`, got)
	}
}

func TestMarkingBeyondAnOutputScrollsIt(t *testing.T) {
	output := strings.Repeat("a line of the output that is long enough for one to have to scroll sideways for the end of it, and then some more of it\n", 60)
	tr := cardTranscript(t, map[string]bool{"c": true}, Item{Key: "c", Kind: cardKind, Data: bash("make", output)}, Item{Key: "z", Data: "Behind."})
	tr.rows.visible["c"].row.(*cardRow).SetOutput(true, false)
	tr.HeightChanged()
	out := tr.rows.visible["c"].row.Passages()[2].(*code.View)
	d := fyne.CurrentApp().Driver()
	corner := d.AbsolutePositionForObject(out).Subtract(d.AbsolutePositionForObject(tr))
	tr.Selection.Press(out, 0, 1)
	drag := func(x, y float32) fyne.Position {
		_, size := out.VisibleArea()
		tr.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: corner.AddXY(x, size.Height+y)}})
		at, _ := out.VisibleArea()
		return at
	}
	if at := drag(40, -10); at != (fyne.Position{}) {
		t.Fatalf("within the output it scrolled to %v, want %v", at, (fyne.Position{}))
	}
	first := tr.Selection.Text()
	if at := drag(40, 12); at.Y < 12 || at.X != 0 {
		t.Errorf("with the mouse below it scrolled to %v", at)
	}
	for range 10 {
		drag(40, 12)
	}
	if text := tr.Selection.Text(); len(text) <= len(first) || !strings.HasPrefix(text, first[:100]) {
		t.Errorf("marked %d bytes, then %d", len(first), len(text))
	}
	if at := drag(560, -10); at.X == 0 {
		t.Error("with the mouse beside the output it did not scroll sideways")
	}
	for range 200 {
		drag(40, 12)
	}
	if text := tr.Selection.Text(); strings.Count(text, "\n") != 59 {
		t.Errorf("at the end %d lines are marked", strings.Count(text, "\n")+1)
	}
	tr.DragEnd()
	if tr.Selection.autoScroll != nil {
		t.Error("it scrolls on after the mouse was let go")
	}
	if y := tr.rows.visible["c"].y; y != 0 {
		t.Errorf("the transcript moved to %v, want 0", y)
	}
}

func TestLineRepeatedInThePanelIsFoundOnce(t *testing.T) {
	long := "find needle in the whole of the haystack and in all that lies beside it, needle by needle"
	card := bash(long, "one needle")
	card.Input = long
	tr := cardTranscript(t, map[string]bool{"open": true}, Item{Key: "open", Kind: cardKind, Data: card}, Item{Key: "folded", Kind: cardKind, Data: card})
	folded, open := card.SearchTexts()
	if n := selection.Count(folded[0], "needle"); len(folded) != 1 || n != 3 {
		t.Errorf("folded it is found %d times in %d texts; want 3 and 1", n, len(folded))
	}
	if n := selection.Count(strings.Join(open, "\n"), "needle"); n != 4 {
		t.Errorf("open it is found %d times, want 4", n)
	}
	tr.Search.Find("needle")
	list := tr.rows.visible["open"].row.Passages()
	line, in, out := list[0].(*code.LineView), list[1].(*code.View), list[2].(*code.View)
	for hit, want := range []selection.Passage{in, in, in, out} {
		tr.Search.ShowHit("open", hit)
		for _, c := range []selection.Passage{line, in, out} {
			if (c.Selectable().Current >= 0) != (c == want) {
				t.Errorf("place %d: %d of %q is the current one", hit, c.Selectable().Current, c.Selectable().PlainText())
			}
		}
	}
	if len(line.Selectable().Hits) != 3 {
		t.Errorf("in the line %d places are marked, want 3", len(line.Selectable().Hits))
	}
	if !tr.Search.ShowHit("folded", 0) || tr.Search.ShowHit("folded", 2) {
		t.Errorf("in a folded line there is room for the first place (%v) and not for the last (%v)", tr.Search.ShowHit("folded", 0), tr.Search.ShowHit("folded", 2))
	}
}

func TestATapOnACardsLineStillUnfoldsIt(t *testing.T) {
	tr := cardTranscript(t, map[string]bool{}, Item{Key: "c", Kind: cardKind, Data: bash("ls -la", "one")})
	row := tr.rows.visible["c"].row.(*cardRow)
	test.Tap(row.argument)
	if !row.CallCard.open {
		t.Error("it is folded")
	}
}

func TestLiveOutputKeepsTheSelection(t *testing.T) {
	lines := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "line %d of the\tbuild\n", i)
		}
		return b.String()
	}
	show := func(tr *View, state CallState, output string) {
		card := bash("make", output)
		card.State = state
		tr.SetItems([]Item{{Key: "c", Kind: cardKind, Data: card}})
	}
	tr := cardTranscript(t, map[string]bool{"c": true})
	show(tr, CallRunning, lines(0, 40))
	out := tr.rows.visible["c"].row.Passages()[2].(*code.View)
	from := strings.Index(out.Selectable().PlainText(), "line 30")
	tr.Selection.Press(out, from, 1)
	tr.Selection.to.rune = from + len("line 30 of the")
	for i, output := range []string{lines(0, 44), lines(10, 50), lines(20, 60) + "line 6", lines(0, 61)} {
		show(tr, CallRunning, output)
		if got := tr.Selection.Text(); got != "line 30 of the" {
			t.Fatalf(`after step %d %q is marked, want "line 30 of the"`, i, got)
		}
		if got := out.Slice(out.Selectable().From, out.Selectable().To); got != "line 30 of the" {
			t.Errorf(`after step %d %q is shown as marked, want "line 30 of the"`, i, got)
		}
	}
	show(tr, CallDone, "something else")
	if tr.Selection.Exists() {
		t.Errorf("%q is still selected, want nothing: its output was replaced", tr.Selection.Text())
	}
}

func TestOutputMovesAsItsBeginningIsLost(t *testing.T) {
	tail := strings.Repeat("0123456789", 20)
	for _, c := range []struct {
		old, now string
		by       int
		ok       bool
	}{
		{"abc", "abcdef", 0, true},
		{"lost\n" + tail, tail + "new", -5, true},
		{"lost é\n" + tail, tail, -7, true},
		{tail + "\n", "all of it\n" + tail, 10, true},
		{tail, "other", 0, false},
		{"\x1b[31mred\x1b[0m\n" + tail, tail + "x", -4, true},
	} {
		t.Run(fmt.Sprintf("%.20q", c.now), func(t *testing.T) {
			if by, ok := outputShift(c.old, c.now); by != c.by || ok != c.ok {
				t.Errorf("%.20q to %.20q: by %d %v, want %d %v", c.old, c.now, by, ok, c.by, c.ok)
			}
		})
	}
}

func TestAHitDeepInAnOutputIsScrolledTo(t *testing.T) {
	output := strings.Repeat("nothing in this line of the output\n", 400) + strings.Repeat(" ", 300) + "needle\n" + strings.Repeat("nothing\n", 400)
	tr := cardTranscript(t, map[string]bool{"c": true}, Item{Key: "c", Kind: cardKind, Data: bash("make", output)})
	tr.Search.Find("needle")
	tr.Search.ShowHit("c", 0)
	out := tr.rows.visible["c"].row.Passages()[2].(*code.View)
	at := out.Selectable().ShowHit(0)
	from, size := out.VisibleArea()
	if at.Y < from.Y || at.Y+10 > from.Y+size.Height || at.X < from.X || at.X+20 > from.X+size.Width {
		t.Errorf("it is at %v, in view are %v from %v", at, size, from)
	}
}

// TestAHitInANewRowIsScrolledTo has no window: to the driver, rows that no frame has shown are as
// little known as those of a view in no window.
func TestAHitInANewRowIsScrolledTo(t *testing.T) {
	var items []Item
	for i := range 40 {
		items = append(items, Item{Key: fmt.Sprint("m", i), Kind: textKind, Data: strings.Repeat(fmt.Sprint("needle ", i, " in a haystack "), 40)})
	}
	tr := cardTranscript(t, nil, items...)
	for _, w := range fyne.CurrentApp().Driver().AllWindows() {
		w.SetContent(container.NewWithoutLayout())
	}
	tr.Search.Find("needle")
	tr.Search.ShowHit("m20", 0)
	last := tr.rows.order[len(tr.rows.order)-1].item.Key // its end is below the view
	tr.Search.ShowHit(last, 39)
	row := tr.rows.visible[last]
	if row == nil {
		t.Fatalf("the row %s is not in view", last)
	}
	if y := row.y + row.row.Passages()[0].Selectable().ShowHit(39).Y; y < 0 || y > tr.Size().Height-40 {
		t.Errorf("the hit is at %v, want it in a view that is %v high", y, tr.Size().Height)
	}
	if at, _, ok := tr.Selection.positionAt(fyne.NewPos(100, row.y+row.h/2)); !ok || at.item != last {
		t.Errorf("the text at the row is in %q, want %s", at.item, last)
	}
}
