package transcript

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// plainRow is a row of a given height.
type plainRow struct {
	widget.BaseWidget
	item  Item
	rect  *widgets.Rect
	binds int
}

func (r *plainRow) Bind(i Item) {
	r.item = i
	r.binds++
	r.rect.SetMinSize(fyne.NewSize(10, i.Data.(float32)))
}
func (r *plainRow) Passages() []selection.Passage       { return nil }
func (r *plainRow) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(r.rect) }

func plainItems(n int, seed uint64) []Item {
	rnd := rand.New(rand.NewPCG(seed, 1))
	items := make([]Item, n)
	for i := range items {
		items[i] = Item{Key: fmt.Sprint("k", i), Data: float32(20 + rnd.IntN(300))}
	}
	return items
}

func plainTranscript(t testing.TB, n int) (*View, *int) {
	created := 0
	tr := New(func(int) Row {
		created++
		r := &plainRow{rect: widgets.NewRect("", "", 0)}
		r.ExtendBaseWidget(r)
		return r
	})
	w := test.NewTempWindow(t, tr)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(600, 500))
	tr.SetItems(plainItems(n, 7))
	return tr, &created
}

// top returns the positions of the visible rows.
func top(tr *View) map[string]float32 {
	m := map[string]float32{}
	for _, a := range tr.rows.order {
		m[a.item.Key] = a.row.Position().Y
	}
	return m
}

func assertGapless(t *testing.T, tr *View) {
	t.Helper()
	for i, a := range tr.rows.order {
		if a.row.Size().Height != a.item.Data.(float32) {
			t.Fatalf("row %s is %v high, wants %v", a.item.Key, a.row.Size().Height, a.item.Data)
		}
		if i > 0 {
			p := tr.rows.order[i-1]
			if p.index+1 != a.index || p.y+p.h != a.y {
				t.Fatalf("row %d at %v follows row %d at %v, %v high", a.index, a.y, p.index, p.y, p.h)
			}
		}
	}
}

func TestTranscriptStartsAtItsEnd(t *testing.T) {
	tr, _ := plainTranscript(t, 1000)
	last := tr.rows.order[len(tr.rows.order)-1]
	if last.index != 999 || last.y+last.h != 500 {
		t.Fatalf("the last row on the screen is %d, ends at %v; want 999 and 500", last.index, last.y+last.h)
	}
	assertGapless(t, tr)
}

func TestTranscriptShowsFewRowsFromItsTop(t *testing.T) {
	tr, _ := plainTranscript(t, 1)
	if y := tr.rows.order[0].y; y != 500-tr.rows.order[0].h && y != 0 {
		t.Fatalf("one short row is at %v", y)
	}
}

func TestTranscriptKeepsFewRowsOfMany(t *testing.T) {
	tr, created := plainTranscript(t, 20_000)
	for range 2000 {
		tr.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, 90)})
		assertGapless(t, tr)
	}
	if *created > 60 {
		t.Errorf("%d rows were made, want at most 60", *created)
	}
}

func TestTranscriptDoesNotJumpWhenRowsAboveAreMeasured(t *testing.T) {
	tr, _ := plainTranscript(t, 5000)
	for range 400 {
		before := top(tr)
		tr.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, 37)})
		for key, y := range top(tr) {
			if was, ok := before[key]; ok && y != was+37 {
				t.Fatalf("row %s moved by %v instead of 37", key, y-was)
			}
		}
	}
}

func TestTranscriptFollowsItsEndOnlyWhileThere(t *testing.T) {
	tr, _ := plainTranscript(t, 100)
	items := tr.Items()
	add := func() {
		items = append(append([]Item{}, items...), Item{Key: fmt.Sprint("new", len(items)), Data: float32(40)})
		tr.SetItems(items)
	}
	add()
	if last := tr.rows.order[len(tr.rows.order)-1]; last.index != 100 || tr.toEnd.button.Visible() {
		t.Fatal("at the end a new row should come into view")
	}
	tr.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, 200)})
	before := top(tr)
	add()
	for key, y := range top(tr) {
		if before[key] != y {
			t.Fatalf("row %s moved although the reader is not at the end", key)
		}
	}
	if !tr.toEnd.button.Visible() {
		t.Fatal("New should appear")
	}
	test.Tap(tr.toEnd.button)
	if last := tr.rows.order[len(tr.rows.order)-1]; last.index != 101 || tr.toEnd.button.Visible() || !tr.AtEnd() {
		t.Fatal("New should lead to the end and go away")
	}
}

func TestTranscriptStaysWhenOlderRowsComeInFront(t *testing.T) {
	tr, _ := plainTranscript(t, 200)
	tr.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, 3000)})
	before := top(tr)
	old := make([]Item, 50)
	for i := range old {
		old[i] = Item{Key: fmt.Sprint("old", i), Data: float32(33)}
	}
	tr.SetItems(append(old, tr.Items()...))
	for key, y := range before {
		if now, ok := top(tr)[key]; !ok || now != y {
			t.Fatalf("row %s went from %v to %v", key, y, now)
		}
	}
}

func TestTranscriptBindsOnlyTheRowThatChanged(t *testing.T) {
	tr, _ := plainTranscript(t, 300)
	rows := map[string]int{}
	for _, a := range tr.rows.order {
		rows[a.item.Key] = a.row.(*plainRow).binds
	}
	items := append([]Item{}, tr.Items()...)
	items[299].Data = float32(400)
	tr.SetItems(items)
	for _, a := range tr.rows.order {
		want := rows[a.item.Key]
		if a.index == 299 {
			want++
		}
		if got := a.row.(*plainRow).binds; want > 0 && got != want {
			t.Errorf("row %d was bound %d times, want %d", a.index, got, want)
		}
	}
	assertGapless(t, tr)
}

func TestTranscriptKeys(t *testing.T) {
	tr, _ := plainTranscript(t, 500)
	tr.TypedKey(&fyne.KeyEvent{Name: fyne.KeyHome})
	if tr.rows.anchor != 0 || tr.rows.topOffset != 0 || tr.AtEnd() {
		t.Fatal("Home should go to the beginning")
	}
	tr.TypedKey(&fyne.KeyEvent{Name: fyne.KeyPageDown})
	if tr.rows.anchor == 0 && tr.rows.topOffset == 0 {
		t.Fatal("Page Down should scroll")
	}
	tr.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEnd})
	if !tr.AtEnd() {
		t.Fatal("End should go to the end")
	}
}

// messageRow is a real message, for the benchmarks.
type messageRow struct {
	widget.BaseWidget
	view *MessageView
}

func (r *messageRow) Bind(i Item) {
	r.view.Set(Message{Sender: "Fairlead", Time: "10:41", Text: i.Data.(string)})
}

func (r *messageRow) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(widgets.Inset(8, 24, 8, 24, r.view))
}

func (r *messageRow) Passages() []selection.Passage { return r.view.Passages() }

func messages(n int) []Item {
	words := strings.Fields("the build fails because parser lost a semicolon on line forty one so **make** stops with `exit 2` and nothing is linked")
	items := make([]Item, n)
	for i := range items {
		var b strings.Builder
		for p := range 1 + i%4 {
			for w := range 25 + i%13 {
				b.WriteString(words[(i+w*7+p)%len(words)] + " ")
			}
			b.WriteString("\n\n")
		}
		if i%7 == 0 {
			b.WriteString("```go\nfunc main() {\n\tfmt.Println(\"hello\")\n}\n```\n")
		}
		items[i] = Item{Key: fmt.Sprint(i), Data: b.String()}
	}
	return items
}

func benchTranscript(b *testing.B) *View {
	test.NewTempApp(b)
	fyne.CurrentApp().Settings().SetTheme(style.New(style.Light, 1))
	tr := New(func(int) Row {
		r := &messageRow{view: NewMessageView()}
		r.ExtendBaseWidget(r)
		return r
	})
	w := test.NewTempWindow(b, tr)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(860, 760))
	tr.SetItems(messages(20_000))
	return tr
}

// BenchmarkTranscriptScroll20000 lays out one scroll step in a chat of 20,000 messages, including
// new rows and their Markdown.
func BenchmarkTranscriptScroll20000(b *testing.B) {
	tr := benchTranscript(b)
	var worst time.Duration
	b.ResetTimer()
	for b.Loop() {
		start := time.Now()
		tr.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, 40)})
		worst = max(worst, time.Since(start))
	}
	b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
}

// BenchmarkTranscriptDelta20000 adds a streamed piece at the end of 20,000 messages.
func BenchmarkTranscriptDelta20000(b *testing.B) {
	tr := benchTranscript(b)
	items := append([]Item{}, tr.Items()...)
	text := items[len(items)-1].Data.(string)
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		items = append([]Item{}, items...)
		last := &items[len(items)-1]
		last.Data = text + strings.Repeat("word ", i%400)
		tr.SetItems(items)
	}
}

func TestTranscriptLeavesTheFocusToTheComposer(t *testing.T) {
	tr := New(func(int) Row {
		r := &plainRow{rect: widgets.NewRect("", "", 0)}
		r.ExtendBaseWidget(r)
		return r
	})
	field := widgets.NewEntry()
	w := test.NewTempWindow(t, container.NewBorder(nil, field, nil, nil, tr))
	w.Resize(fyne.NewSize(300, 300))
	items := plainItems(50, 3)
	for i := range items {
		items[i].Data = float32(900) // each extends below the transcript
	}
	tr.SetItems(items)
	w.Canvas().Focus(field)
	for range 50 {
		tr.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, 200)})
	}
	if w.Canvas().Focused() != field {
		t.Errorf("the keyboard went to %T, want %T", w.Canvas().Focused(), field)
	}
}
