package channels

import (
	"bytes"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/picture"
	"fairlead/gateway/protocol"
)

// detail is the page of one account, and of who may write to the agent on its channel.
type detail struct {
	p   *Page
	key string
	a   Account

	toggle, login, change, logout *widgets.Button

	confirmingLogout bool // the person was asked to confirm logging out
	state            *widgets.Paragraph
	icon             *fyne.Container
	scan             *fyne.Container // the picture to scan, or the result of a login
	facts            *fyne.Container
	policy           *policy
}

func newDetail(p *Page, key string) *detail {
	d := &detail{p: p, key: key, state: widgets.NewParagraph("", style.ColorText, "text"), icon: container.NewStack(), scan: container.NewStack(), facts: container.NewStack()}
	d.toggle = widgets.NewButton("", "", func() {
		if d.running() {
			p.m.Stop(d.a)
		} else {
			p.m.Start(d.a)
		}
	})
	d.login = widgets.NewButton("Log in again", "key", func() { p.m.Login(d.a) })
	d.change = widgets.NewButton("Settings", "edit", func() {
		p.openFields(d.a.Key(), fieldsOf(d.a), func() { p.open(d.a.Key()) })
	})
	d.logout = widgets.NewQuietButton("Log out", "trash", func() {
		d.confirmingLogout = !d.confirmingLogout
		if d.confirmingLogout {
			d.show()
		} else {
			p.m.Logout(d.a)
		}
	})
	return d
}

// running reports whether the gateway keeps the account connected.
func (d *detail) running() bool {
	return d.a.State != protocol.AccountStopped && d.a.State != protocol.AccountNoLogin
}

// tick counts down to the next attempt.
func (d *detail) tick() {
	if d.a.RetryAt > 0 {
		d.state.Set(accountText(d.a, d.p.now()), style.ColorText)
	}
}

// show redraws the account; if it was removed, the list. The focus stays.
func (d *detail) show() {
	p := d.p
	a, ok := p.view.Account(d.key)
	if !ok {
		if p.view.Loaded {
			p.back()
		}
		return
	}
	d.a = a
	d.buttons()
	d.icon.Objects = []fyne.CanvasObject{stateIcon(a)}
	text := accountText(a, p.now())
	if a.Busy != "" {
		text = a.Busy
	}
	d.state.Set(text, style.ColorText)
	d.showLogin(p.view.Logins[d.key])
	widgets.SetContent(d.facts, widgets.Col(style.Group, d.lines()...))
	if d.policy == nil {
		d.policy = newPolicy(p, a.Channel)
	}
	d.policy.show(p.view.Policies[a.Channel], channelTitle(a.Kind, a.Channel))
	p.Draw("account "+d.key, func() fyne.CanvasObject {
		back := widgets.NewQuietButton("All channels", "back", p.back)
		return widgets.NewPage(accountTitle(a), widgets.NewForm(widgets.Flow(style.Inside, d.toggle, d.login, d.change, d.logout),
			widgets.WithIcon("text", 0, d.icon, d.state), d.scan, d.facts, d.policy.box), back)
	})
	p.LayOutText()
}

func (d *detail) buttons() {
	d.toggle.Set("Start", "play")
	if d.running() {
		d.toggle.Set("Stop", "stop")
	}
	d.logout.Danger = d.confirmingLogout
	d.logout.SetText(map[bool]string{false: "Log out", true: "Log out and delete"}[d.confirmingLogout])
	for _, b := range []*widgets.Button{d.toggle, d.login, d.change, d.logout} {
		widgets.SetVisible(b, d.a.Own)
		if d.a.Busy != "" {
			b.Disable()
		} else {
			b.Enable()
		}
	}
}

// qrSize is the maximum size of a QR code: large enough for a phone's camera at arm's length.
const qrSize = 300

func (d *detail) showLogin(l Login) {
	if l.Message == "" && l.QR == nil {
		d.scan.Objects = nil
		d.scan.Hide()
		return
	}
	d.scan.Show()
	var rows []fyne.CanvasObject
	pic, err := picture.Open(l.QR)
	switch {
	case l.QR == nil:
	case err != nil:
		rows = append(rows, widgets.NewParagraph("This picture cannot be shown. Get a new QR code.", style.ColorMuted, "text"))
	default:
		img := canvas.NewImageFromImage(pic.Fit(2 * qrSize))
		img.FillMode, img.ScaleMode = canvas.ImageFillContain, canvas.ImageScalePixels
		size := pictureSize(l.QR)
		img.SetMinSize(fyne.NewSquareSize(size))
		paper := widgets.NewRect(style.ColorPaper, "", style.Corner)
		rows = append(rows, widgets.LimitWidth(size+2*style.Group, true, container.NewStack(paper, widgets.Inset(style.Group, style.Group, style.Group, style.Group, img))))
	}
	if l.Message != "" {
		rows = append(rows, widgets.NewParagraph(l.Message, style.ColorText, "text"))
	}
	if l.QR != nil {
		done := widgets.NewButton("I've scanned it", "check", func() { d.p.m.Start(d.a) })
		done.Primary = true
		rows = append(rows, widgets.Flow(style.Inside, done, widgets.NewQuietButton("New QR code", "reset", func() { d.p.m.Login(d.a) })))
	}
	d.scan.Objects = []fyne.CanvasObject{widgets.Col(style.Inside, rows...)}
}

// pictureSize returns the display size of a QR code: a small one is scaled by a whole number.
func pictureSize(data []byte) float32 {
	head, _, err := image.DecodeConfig(bytes.NewReader(data))
	if side := max(head.Width, head.Height); err == nil && side > 0 && side <= qrSize {
		return float32(qrSize / side * side)
	}
	return qrSize
}

func (d *detail) lines() []fyne.CanvasObject {
	a, now := d.a, d.p.now()
	var rows []fyne.CanvasObject
	if d.confirmingLogout {
		rows = append(rows, widgets.NewParagraph("This deletes the account, its password and its undelivered messages from this gateway. Press again to confirm.", style.ColorBad, "text"))
	}
	if !a.Own {
		rows = append(rows, widgets.NewParagraph("This account is connected by another program. Start and stop it there.", style.ColorMuted, "text"))
	}
	rows = append(rows, fact("Channel", channelTitle(a.Kind, a.Channel)), fact("Account", a.AccountID))
	if a.LastActivity > 0 {
		rows = append(rows, fact("Last activity", format.When(a.LastActivity, now)))
	}
	if a.Waiting > 0 {
		rows = append(rows, fact("Waiting", format.Plural(a.Waiting, "message")+" waiting to be delivered"))
	}
	form := fieldsOf(a)
	for _, f := range a.Kind.Fields {
		text := form.Values[f.Name]
		switch {
		case f.Secret && a.Own:
			text = "•••••••• (saved, never shown)"
		case f.Long && text != "":
			text, _, _ = strings.Cut(text, "\n")
			text += " …"
		}
		if text != "" {
			rows = append(rows, fact(f.Title, text))
		}
	}
	return rows
}

// fact shows a value below its label; both may be long.
func fact(name, text string) fyne.CanvasObject {
	return widgets.Col(style.Gap, widgets.NewParagraph(name, style.ColorMuted, style.SizeSmall), widgets.NewParagraph(text, style.ColorText, "text"))
}
