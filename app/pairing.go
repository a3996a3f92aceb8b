package app

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/nodes"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// pairing asks the person, in a window of its own, whether a device may be paired.
type pairing struct {
	ui      *ui
	window  fyne.Window     // nil while no request is shown
	request *nodes.Request  // the request in the window
	later   map[string]bool // requests that the person put off; they are still on the page Needs you
}

// update shows the oldest request, and closes the window when it is no longer pending.
func (p *pairing) update(v state.View) {
	var first *protocol.DeviceRequest
	for _, r := range v.PairRequests() {
		if p.window != nil && p.request.Value.ID == r.ID {
			return
		}
		if first == nil && !p.later[r.ID] {
			first = &r
		}
	}
	if first == nil {
		p.close()
		return
	}
	p.show(*first, p.ui.showQuietly)
}

// show shows a request in the window of pairing requests. It calls open for a new window.
func (p *pairing) show(r protocol.DeviceRequest, open func(fyne.Window)) {
	isNew := p.window == nil
	if isNew {
		p.window = p.ui.app.NewWindow("")
		p.window.SetPadded(false)
		p.window.SetCloseIntercept(p.putOff)
		p.window.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) {
			if e.Name == fyne.KeyEscape {
				p.putOff()
			}
		})
		shortcut(p.window, fyne.KeyW, p.putOff)
	}
	w := p.window
	p.request = nodes.NewRequest(r, time.Now(), p.ui.backend.state.Pairings.Answer, p.putOff)
	content := widgets.Inset(style.Group, style.Page, style.Group, style.Page, p.request.Box)
	w.SetTitle(state.RequestTitle(r))
	w.SetContent(container.NewStack(widgets.NewRect(style.ColorSurface, "", 0), content))
	w.Resize(fyne.NewSize(pairingWidth, widgets.Fit(content, pairingWidth)))
	if isNew {
		w.CenterOnScreen()
		open(w)
	}
}

// pairingWidth is the width of the window.
const pairingWidth float32 = 480

// putOff closes the window without an answer. The request stays on the page Needs you.
func (p *pairing) putOff() {
	if p.later == nil {
		p.later = make(map[string]bool)
	}
	p.later[p.request.Value.ID] = true
	p.close()
	p.update(p.ui.view) // shows the next one
}

func (p *pairing) close() {
	if p.window != nil {
		p.window.Close()
		p.window, p.request = nil, nil
	}
}

// review shows a request in front: in the window if it is to pair a device, otherwise on the page
// Needs you.
func (p *pairing) review(id string) {
	for _, r := range p.ui.view.PairRequests() {
		if r.ID == id {
			delete(p.later, id)
			p.show(r, fyne.Window.Show)
			p.window.RequestFocus()
			return
		}
	}
	p.ui.main.show()
	p.ui.approvals.openInbox()
}

func (p *pairing) tick(now time.Time) {
	if p.window != nil {
		p.request.Tick(now)
	}
}
