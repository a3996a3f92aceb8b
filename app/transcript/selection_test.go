package transcript

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/markdown"
	"fairlead/app/style"
)

func markedTranscript(t *testing.T, n int) *View {
	test.NewTempApp(t)
	test.ApplyTheme(t, style.New(style.Light, 1))
	tr := New(func(int) Row {
		r := &messageRow{view: NewMessageView()}
		r.ExtendBaseWidget(r)
		return r
	})
	tr.Selection.ItemText = func(i Item) string { return i.Data.(string) }
	w := test.NewTempWindow(t, tr)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(600, 500))
	items := make([]Item, n)
	for i := range items {
		items[i] = Item{Key: fmt.Sprint(i), Data: fmt.Sprintf("First line of %d.\n\nSecond **line** of %d.", i, i)}
	}
	tr.SetItems(items)
	return tr
}

func TestTranscriptCopiesASelectionAcrossMessages(t *testing.T) {
	tr := markedTranscript(t, 30)
	first, last := tr.rows.order[1].item.Key, tr.rows.order[3].item.Key
	from, to := middle(t, tr, first, 1, 7), middle(t, tr, last, 0, 5)
	tr.Selection.Press(tr.rows.visible[first].row.Passages()[1], 7, 1)
	tr.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: from.AddXY(3, 3)}})
	tr.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: to}})
	tr.DragEnd()
	middle := tr.rows.order[2].item.Data.(string)
	want := "line of " + first + ".\n\n" + middle + "\n\nFirst"
	if got := tr.Selection.Text(); got != want {
		t.Errorf("marked %q, want %q", got, want)
	}
	tr.TypedShortcut(&fyne.ShortcutCopy{})
	if got := fyne.CurrentApp().Clipboard().Content(); got != want {
		t.Errorf("copied: got %q, want %q", got, want)
	}
	tr.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if tr.Selection.Exists() || tr.rows.visible[first].row.Passages()[1].(*markdown.RichText).Selectable().To != 0 {
		t.Error("Escape should unmark")
	}
}

func TestTranscriptMarksUpwardsAndKeepsItWhenScrolled(t *testing.T) {
	tr := markedTranscript(t, 60)
	key := tr.rows.order[len(tr.rows.order)-1].item.Key
	tr.Selection.Press(tr.rows.visible[key].row.Passages()[0], 5, 1)
	for range 40 {
		tr.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(40, -50)}})
	}
	text := tr.Selection.Text()
	if !strings.HasSuffix(text, "\n\nFirst") || strings.Count(text, "Second") < 10 {
		t.Errorf(`marked: got %q; want a text that ends with "\n\nFirst" and number of "Second" in text at least 10`, text)
	}
	tr.ScrollToEnd()
	if p := tr.rows.visible[key].row.Passages()[0].(*markdown.RichText); p.Selectable().To != 5 {
		t.Error("the mark went with its row")
	}
	if got := tr.Selection.Text(); got != text {
		t.Errorf("after scrolling %q is marked, not %q", got, text)
	}
}

func TestTranscriptMarksWordsAfterASecondPress(t *testing.T) {
	tr := markedTranscript(t, 3)
	tr.Selection.Press(tr.rows.order[0].row.Passages()[1], 9, 2)
	if got := tr.Selection.Text(); got != "line" {
		t.Errorf(`marked: got %q, want "line"`, got)
	}
	tr.Selection.Press(tr.rows.order[0].row.Passages()[1], 9, 3)
	if got := tr.Selection.Text(); got != "Second line of 0." {
		t.Errorf(`marked: got %q, want "Second line of 0."`, got)
	}
}

func TestTranscriptMarksAll(t *testing.T) {
	tr := markedTranscript(t, 40)
	tr.TypedShortcut(&fyne.ShortcutSelectAll{})
	text := tr.Selection.Text()
	if !strings.HasPrefix(text, "First line of 0.") || !strings.HasSuffix(text, "line of 39.") && !strings.HasSuffix(text, "**line** of 39.") || strings.Count(text, "First") != 40 {
		t.Errorf(`marked: got %q; want a text that begins with "First line of 0.", either a text that ends with "line of 39." or a text that ends with "**line** of 39." and "First" 40 times`, text)
	}
}

func TestTypingInTheTranscriptGoesToTheComposer(t *testing.T) {
	tr := markedTranscript(t, 3)
	typed := ""
	tr.OnType = func(r rune) { typed += string(r) }
	tr.TypedRune('h')
	tr.TypedRune('i')
	if typed != "hi" {
		t.Errorf(`typed: got %q, want "hi"`, typed)
	}
}

func TestTranscriptOffersToScrollToTheEnd(t *testing.T) {
	tr := markedTranscript(t, 200)
	if tr.toEnd.button.Visible() {
		t.Error("at the end there is nowhere to go")
	}
	tr.ScrollTo(tr.Items()[0].Key, 0)
	if !tr.toEnd.button.Visible() || tr.toEnd.button.Text != "" {
		t.Errorf("visible: got %v, %q; want toEnd.button.Visible and an empty toEnd.button.Text", tr.toEnd.button.Visible(), tr.toEnd.button.Text)
	}
	test.Tap(tr.toEnd.button)
	if !tr.AtEnd() || tr.toEnd.button.Visible() {
		t.Error("the button should lead to the end")
	}
}
