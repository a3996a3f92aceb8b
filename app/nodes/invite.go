package nodes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/code"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

func (p *Page) openInvite() {
	p.invite, p.detail, p.client = true, nil, nil
	p.invitationBox = container.NewVBox()
	p.form = widgets.NewForm(slices.Concat(
		[]fyne.CanvasObject{widgets.NewParagraph("Add a machine that the agent may work on, or another device that you want to control Fairlead from.", style.ColorText, "text")},
		p.networkRows(), p.invitationRows())...)
	p.Put(widgets.NewPage("Add a machine", p.form, widgets.NewQuietButton("All machines", "back", func() { p.Open("") })))
}

// networkRows show whether other machines can connect, and turn that on and off.
func (p *Page) networkRows() []fyne.CanvasObject {
	network := widgets.NewParagraph("", style.ColorMuted, "text")
	turn := widgets.NewButton("Allow other machines to connect", "globe", nil)
	load := func() {
		p.loadPairing(func(r state.Pairing) {
			p.showPairing(r)
			text, color := NetworkText(r)
			network.Set(text, color)
			turn.Set("Allow other machines to connect", "globe")
			if r.Network.Enabled {
				turn.Set("Turn off", "cross")
			}
		})
	}
	turn.OnTap = func() {
		on := !p.pairing.Network.Enabled
		network.Set("Changing…", style.ColorMuted)
		bind.Run(p.ctx, func(ctx context.Context) error { return p.app.Set(ctx, "network.enabled", on) }, func(err error) {
			if err != nil {
				network.Set(err.Error(), style.ColorBad)
				return
			}
			load()
		})
	}
	load()
	return []fyne.CanvasObject{widgets.NewSectionHeading("NETWORK"), network, widgets.Row(style.Inside, -1, turn)}
}

// invitationRows create an invitation, and show it below.
func (p *Page) invitationRows() []fyne.CanvasObject {
	message := widgets.NewParagraph("", style.ColorMuted, "text")
	message.Hide()
	ends := state.AccessPeriods[0]
	var until *widgets.Button
	until = widgets.NewMenuButton(ends.Text, "clock", func() []*fyne.MenuItem {
		return expiryItems(func(e state.AccessPeriod) {
			ends = e
			until.SetText(e.Text)
		})
	})
	invite := func(role string) func() {
		return func() {
			message.Show()
			message.Set("Creating an invitation…", style.ColorMuted)
			params := protocol.DeviceInviteParams{Role: role, PairedFor: ends.Days}
			bind.Call(bind.Until(p.ctx), p.app, protocol.DeviceInviteTo, params, func(r protocol.DeviceInvite, err error) {
				if err != nil {
					message.Set(err.Error(), style.ColorBad)
					return
				}
				message.Hide()
				widgets.SetContent(p.invitationBox, p.invitation(r))
			})
		}
	}
	machine := widgets.NewButton("Invite a machine", "machine", invite(protocol.RoleNode))
	machine.Primary = true
	client := widgets.NewButton("Invite a device", "window", invite(protocol.RoleClient))
	return []fyne.CanvasObject{
		widgets.NewSectionHeading("INVITATION"),
		widgets.NewParagraph("An invitation works once, within ten minutes. You confirm who uses it.", style.ColorMuted, "text"),
		widgets.NewField("Access lasts", widgets.Row(style.Inside, -1, until)),
		widgets.Row(style.Inside, -1, machine, client), message, p.invitationBox,
	}
}

func (p *Page) invitation(r protocol.DeviceInvite) fyne.CanvasObject {
	var rows []fyne.CanvasObject
	add := func(name, text string) {
		if text == "" {
			return
		}
		value := code.NewPanel(120)
		value.SetLines(code.PlainLines(text))
		value.SetForward(p.form.Scrolled)
		rows = append(rows, widgets.NewField(name, value, widgets.Row(style.Inside, -1, widgets.NewQuietButton("Copy", "copy", func() { p.h.Copy(text) }))))
	}
	add("Open this link on the other machine", r.Link)
	add("Or type this code", r.Code)
	add("If Fairlead is not installed there, run", r.Install)
	add("On Windows, in PowerShell", r.InstallWindows)
	texts := widgets.Col(style.Group, rows...)
	code, err := widgets.NewQR(r.Link)
	if err != nil {
		return texts // the link is too long for a QR code
	}
	return widgets.Beside(style.Page, 320, widgets.NewField("Scan with a phone to copy the link", code), texts)
}

// NetworkText says whether other machines can reach the gateway.
func NetworkText(r state.Pairing) (string, fyne.ThemeColorName) {
	n := r.Network
	switch {
	case r.Problem != "":
		return r.Problem, style.ColorBad
	case n.Problem != "":
		return "Other machines cannot connect to this gateway: " + n.Problem, style.ColorBad
	case n.Listening:
		return fmt.Sprintf("Other machines can connect at %s. Fingerprint: %s.", strings.Join(n.Addresses, ", "), strings.Join(n.Words, "-")), style.ColorText
	case n.Enabled:
		return "The gateway is starting to listen.", style.ColorMuted
	}
	return "Other machines cannot connect to this gateway.", style.ColorText
}
