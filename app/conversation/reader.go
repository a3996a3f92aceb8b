package conversation

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/host"
	"fairlead/app/widgets"
)

// Reader shows an archived conversation, which cannot be changed.
type Reader struct {
	widgets.Frame
	view *View
}

// NewReader creates a reader; Show sets the conversation. Its work ends with ctx.
func NewReader(ctx context.Context, e host.Env) *Reader {
	r := &Reader{view: New(ctx, e, widgets.NewEmptyState("chat", "No messages", ""), nil)}
	r.view.OnResize = r.relayout
	r.Compose(r, container.New(readerLayout{r}, r.view.Content))
	r.show()
	return r
}

// View returns what the reader shows, for a page that reveals a message.
func (r *Reader) View() *View { return r.view }

// Update shows a state.
func (r *Reader) Update(s State) {
	r.view.Set(s)
	r.show()
}

// Tick passes the time, once a second.
func (r *Reader) Tick(now time.Time) {
	if r.view.SetTime(now) {
		r.show()
	}
}

func (r *Reader) show() {
	r.view.Draw()
	r.relayout()
}

func (r *Reader) relayout() {
	if s := r.Size(); s.Width > 0 {
		readerLayout{r}.Layout(nil, s)
	}
}

type readerLayout struct{ r *Reader }

func (readerLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(300, 240) }

// Layout implements fyne.Layout.
func (l readerLayout) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	width, _ := Column(size.Width)
	l.r.view.LayOut(fyne.Position{}, size, width)
}
