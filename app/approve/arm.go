package approve

import (
	"fmt"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/style"
	"fairlead/gateway/protocol"
)

// OnScreen sets whether the dialog's window is visible.
func (d *Dialog) OnScreen(on bool) {
	d.front = on
	if !on {
		d.arm.Hide()
		return
	}
	d.seen()
}

// Activated tells the dialog that one of the program's windows came to the front: the click that
// caused it must not allow.
func (d *Dialog) Activated() { d.arm.Activated(d.clock()) }

// Tick passes the time, several times a second while the window is open.
func (d *Dialog) Tick(now time.Time) {
	q := d.Current()
	if q.ID == "" {
		return
	}
	d.look()
	ok, progress := d.arm.Armed(now)
	_, whole := d.changedArgs(q)
	if ok && whole && d.step == asking {
		d.allow.Enable()
	} else {
		d.allow.Disable()
	}
	if ok && (d.step == editing || d.step == ruling && len(d.rule.chosen) > 0) {
		d.confirm.Enable()
	} else {
		d.confirm.Disable()
	}
	d.progress.FillColor = style.Color(style.ColorAccent)
	d.progress.Resize(fyne.NewSize(float32(progress)*d.Size().Width, 2))
	setShown(d.progress, !ok)
	d.left.SetText(timeLeft(q, now))
}

func timeLeft(q protocol.Approval, now time.Time) string {
	if q.ExpiresAt == 0 {
		return ""
	}
	left := time.UnixMilli(q.ExpiresAt).Sub(now).Round(time.Second)
	if left < 0 {
		left = 0
	}
	return fmt.Sprintf("%d:%02d left", int(left.Minutes()), int(left.Seconds())%60)
}

// seen starts the arming of Allow and tells the gateway once that the question is visible.
func (d *Dialog) seen() {
	q := d.Current()
	if q.ID == "" || !d.front {
		return
	}
	d.arm.Show(fmt.Sprint(q.ID, q.Hash, d.turns), d.clock())
	if !d.shown[q.ID] {
		d.shown[q.ID] = true
		d.h.Shown(q.ID)
	}
}

// look records when the end of the text is in view.
func (d *Dialog) look() {
	if d.scroll.Size().Height > 0 && d.scroll.Offset.Y+d.scroll.Size().Height >= d.body.MinSize().Height-style.Inside {
		d.arm.Read()
	}
}
