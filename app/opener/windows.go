package opener

import (
	"context"
	"io"

	"fyne.io/fyne/v2"

	"fairlead/app/code"
	"fairlead/app/host"
	"fairlead/app/native"
	"fairlead/app/shortcuts"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
)

// Output shows the output of a call in a window of its own.
func (o *Opener) Output(to host.Output) {
	w := native.NewWindow(o.app, format.Clip(to.Title, 80)+" – Fairlead", nil)
	w.SetPadded(false)
	lines := code.OutputLines(to.Text)
	r := code.NewReader(lines, wording.LineCount(len(lines)))
	r.OnClose = w.Close
	w.SetContent(widgets.Readable(o.windows.BelowBar(r)))
	w.Resize(fyne.NewSize(900, 640))
	shortcuts.Add(w, fyne.KeyW, w.Close)
	focusSearch := func() { w.Canvas().Focus(r.SearchField()) }
	shortcuts.Add(w, fyne.KeyF, focusSearch)
	w.Canvas().AddShortcut(&fyne.ShortcutCopy{}, func(fyne.Shortcut) {
		if s := r.Selected(); s != "" {
			o.app.Clipboard().SetContent(s)
		}
	})
	native.CloseOnEscape(w)
	w.Show()
	if to.Search {
		focusSearch()
	}
}

// Picture opens a picture in a window of its own. A click, + and - zoom, 0 fits it. A picture that
// cannot be shown is saved instead.
func (o *Opener) Picture(from fyne.Window, r fyne.Resource) {
	if bad, ok := r.(*transcript.Unreadable); ok {
		o.Save(from, host.SaveFile{Name: "picture", Write: func(_ context.Context, f io.Writer) (string, error) {
			_, err := f.Write(bad.Data)
			return "The picture was saved.", err
		}})
		return
	}
	w := native.NewWindow(o.app, "Picture – Fairlead", nil)
	w.SetPadded(false)
	z := widgets.NewZoom(r)
	w.SetContent(o.windows.BelowBar(z.Scroller))
	w.Resize(fyne.NewSize(800, 600))
	w.CenterOnScreen()
	w.Canvas().SetOnTypedRune(func(r rune) {
		switch r {
		case '+', '=':
			z.Step(1)
		case '-':
			z.Step(-1)
		case '0':
			z.Step(0)
		}
	})
	native.CloseOnEscape(w)
	shortcuts.Add(w, fyne.KeyW, w.Close)
	shortcuts.Add(w, fyne.KeyQ, o.windows.Quit)
	w.Show()
}
