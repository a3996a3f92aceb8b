package code

import (
	"image"
	"image/color"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/style"
	"fairlead/app/widgets/widgettest"
)

func TestPanelInATranscriptPassesOnTheWheel(t *testing.T) {
	p := NewPanel(60)
	var passed float32
	p.SetForward(func(e *fyne.ScrollEvent) { passed += e.Scrolled.DY })
	widgettest.Window(t, p, 300, 80)
	p.SetText(strings.Repeat("line\n", 5))
	p.Scroller.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -10)})
	if passed != 0 || p.view.picture.view.Y != 10 {
		t.Fatalf("the panel should scroll itself first: passed %v, at %v", passed, p.view.picture.view.Y)
	}
	p.Scroller.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -1000)})
	if passed >= 0 {
		t.Error("at its end the wheel should go on to the transcript")
	}
}

func TestFollowingPanelKeepsItsEndInView(t *testing.T) {
	p := NewPanel(100)
	p.Scroller.Follow = true
	widgettest.Window(t, p, 300, 100)
	p.SetText(strings.Repeat("line\n", 50))
	end := p.view.picture.view.Y
	if end == 0 {
		t.Fatal("the end is not in view")
	}
	p.SetText(strings.Repeat("line\n", 60))
	if p.view.picture.view.Y <= end {
		t.Error("the view did not follow")
	}
	p.Scroller.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, 50)})
	at := p.view.picture.view.Y
	p.SetText(strings.Repeat("line\n", 70))
	if p.view.picture.view.Y != at {
		t.Error("the view followed although the reader went up")
	}
}

func TestCodeDrawsOnlyTheLinesInView(t *testing.T) {
	p := NewPanel(200)
	widgettest.Window(t, p, 400, 200)
	p.SetText(strings.Repeat("some line\n", 50_000))
	if _, area := p.view.picture.area(p.view.Size()); area.Height > 220 {
		t.Errorf("a picture %g high is drawn of 50,000 lines, want at most 220", area.Height)
	}
}

func TestLineBeyondTheViewIsMarked(t *testing.T) {
	p := NewPanel(0)
	widgettest.Window(t, p, 200, 60)
	p.SetText("a" + strings.Repeat(" ", 200) + "b\nshort")
	cell := Cell()
	drawn := func(line int, x float32) bool {
		at, area := p.view.picture.area(p.view.Size())
		img := p.view.picture.draw(int(area.Width), int(area.Height), at, area).(*image.RGBA)
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
	p.Scroller.MoveTo(fyne.NewPos(100*cell.Width, 0))
	if !drawn(0, 0) || !drawn(0, -2*cell.Width) || !drawn(1, 0) {
		t.Error("in its middle it does not say that it goes on at both ends")
	}
	p.Scroller.MoveTo(fyne.NewPos(300*cell.Width, 0))
	if !drawn(0, 0) {
		t.Error("at its end it does not say that there is more before")
	}
}

func TestCodeDropsThePictureOfEarlierText(t *testing.T) {
	c := NewView(PlainLines("before"))
	widgettest.Window(t, c, 300, 60)
	old := test.WidgetRenderer(c).Objects()[0]
	c.SetLines(PlainLines("after"))
	if test.WidgetRenderer(c).Objects()[0] == old {
		t.Error("the toolkit may keep the old picture of code")
	}
}

func TestItalicLettersLeanToTheRight(t *testing.T) {
	lean := func(text string) int {
		p := NewPanel(0)
		widgettest.Window(t, p, 200, 60)
		p.SetLines(OutputLines(text))
		at, area := p.view.picture.area(p.view.Size())
		img := p.view.picture.draw(int(area.Width), int(area.Height), at, area).(*image.RGBA)
		var ends []int // the first column with ink, from the top of the letter to its foot
		for y := range int(area.Height) {
			for x := range int(area.Width) {
				if img.RGBAAt(x, y).A > 0 {
					ends = append(ends, x)
					break
				}
			}
		}
		if len(ends) == 0 {
			t.Fatal("nothing is drawn")
		}
		return ends[0] - ends[len(ends)-1]
	}
	if upright, italic := lean("|"), lean("\x1b[3m|"); upright != 0 || italic < 2 {
		t.Errorf("an upright line leans by %d, an italic one by %d; want 0 and at least 2", upright, italic)
	}
}

func TestCurrentSearchResultHasAFrame(t *testing.T) {
	p := NewPanel(0)
	widgettest.Window(t, p, 200, 60)
	p.SetText("find find")
	if n := p.view.text.Find("find"); n != 2 {
		t.Fatalf("got %d results, want 2", n)
	}
	p.view.text.ShowHit(1)
	at, area := p.view.picture.area(p.view.Size())
	img := p.view.picture.draw(int(area.Width), int(area.Height), at, area).(*image.RGBA)
	corner := func(column int) color.Color {
		return color.NRGBAModel.Convert(img.At(int(float32(column)*Cell().Width)+1, 0))
	}
	if got, want := corner(0), style.Color(style.ColorFound); got != want {
		t.Errorf("another result begins with %v, want its background %v", got, want)
	}
	if got, want := corner(5), style.Color(style.ColorNeedsYou); got != want {
		t.Errorf("the current result begins with %v, want its frame %v", got, want)
	}
}
