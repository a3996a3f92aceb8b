package native

import (
	"testing"
	"testing/synctest"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"
)

// page is a widget that counts the renderers that were freed.
type page struct {
	widget.BaseWidget
	freed int
}

type renderer struct {
	fyne.WidgetRenderer
	page *page
}

func (r renderer) Destroy() { r.page.freed++ }

func (p *page) CreateRenderer() fyne.WidgetRenderer {
	return renderer{widget.NewSimpleRenderer(canvas.NewRectangle(nil)), p}
}

func TestOldRenderersAreFreedWithoutAWindow(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		p := &page{}
		p.ExtendBaseWidget(p)
		p.MinSize() // creates the renderer
		time.Sleep(RendererAge / 2)
		FreeRenderers()
		if p.freed != 0 {
			t.Error("a renderer is freed soon after its use")
		}
		time.Sleep(RendererAge/2 + time.Second)
		FreeRenderers()
		if p.freed != 1 {
			t.Errorf("after %v, %d renderers are freed, want 1", RendererAge, p.freed)
		}
	})
}
