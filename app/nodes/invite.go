package nodes

import (
	"context"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/code"
	"fairlead/app/feed"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// invite is the page that adds a machine: it lets other machines reach the gateway, creates an
// invitation, and shows the requests of those that use it.
type invite struct {
	p        *Page
	form     *container.Scroll
	network  *widgets.Paragraph
	turn     *widgets.Button
	changing bool            // the answer to turn is pending
	section  *fyne.Container // hidden while no other machine can connect
	message  *widgets.Paragraph
	result   widgets.Body // the invitation, or the machine that used it

	invitation protocol.DeviceInvite // without an ID: none
	listed     bool                  // the gateway has listed the invitation
	paired     protocol.Device       // the device that used the last invitation; without an ID: none
}

// Invite shows the page that adds a machine.
func (p *Page) Invite() {
	p.onClose()
	i := &invite{p: p, network: widgets.NewParagraph("", style.ColorMuted, "text"), message: widgets.NewParagraph("", style.ColorMuted, "text"), result: widgets.NewBody()}
	p.invite = i
	i.turn = widgets.NewButton("", "globe", i.turnNetwork)
	i.section = widgets.Col(style.Group, i.rows()...)
	i.message.Hide()
	i.form = widgets.NewForm(
		widgets.NewParagraph("Add a computer that the agent may work on, or another device that you want to control Fairlead from.", style.ColorText, "text"),
		p.requests.Box, widgets.NewSectionHeading("NETWORK"), i.network, widgets.Row(style.Inside, -1, i.turn), i.section)
	p.Show(widgets.Detail{Update: i.show, Closed: p.onClose})
	p.Put(widgets.NewPage("Add a machine", i.form, widgets.NewQuietButton("All machines", "back", p.Leave)))
}

// show shows the present state of the network, and what became of the invitation.
func (i *invite) show() {
	r := i.p.pairing
	text, color := NetworkText(r)
	if i.changing {
		text, color = "Changing…", style.ColorMuted
	}
	i.network.Set(text, color)
	i.turn.Set(widgets.Choose(r.Network.Enabled, "Turn off", "Let other machines connect"), widgets.Choose(r.Network.Enabled, "cross", "globe"))
	i.turn.Primary = !r.Network.Enabled
	i.turn.Refresh()
	widgets.SetVisible(i.section, r.Network.Listening)
	i.showOutcome()
	i.p.Box.Refresh()
}

// showOutcome replaces an invitation that was used or has ended.
func (i *invite) showOutcome() {
	if i.invitation.ID == "" {
		i.showPaired()
		return
	}
	outcome, d := inviteOutcome(i.p.view, i.invitation, i.p.now())
	i.listed = i.listed || outcome == inviteOpen
	switch {
	case outcome == invitePaired:
		i.invitation, i.paired = protocol.DeviceInvite{}, d
		i.showPaired()
	case outcome == inviteEnded && i.listed:
		i.invitation = protocol.DeviceInvite{}
		i.result.Put(widgets.NewParagraph("This invitation has ended. Create a new one to try again.", style.ColorMuted, "text"))
	}
}

// showPaired shows the device that used the last invitation. A machine can be opened once it is
// connected.
func (i *invite) showPaired() {
	d := i.paired
	if d.ID == "" {
		return
	}
	open, text := func() { i.p.openClient(d.ID) }, "✓ “"+d.Name+"” is paired."
	_, known := i.p.view.Machines.Find(d.NodeID)
	if d.Role == protocol.RoleNode {
		open = func() { i.p.Open(d.NodeID) }
		if !known {
			text += " It appears under Machines as soon as Fairlead runs there."
		}
	}
	i.result.Draw(text, func() fyne.CanvasObject {
		rows := []fyne.CanvasObject{widgets.NewParagraph(text, style.ColorGood, "text")}
		if known || d.Role == protocol.RoleClient {
			rows = append(rows, widgets.Row(style.Inside, -1, widgets.NewButton("Show it", "right", open)))
		}
		return widgets.Col(style.Inside, rows...)
	})
}

func (i *invite) turnNetwork() {
	on := !i.p.pairing.Network.Enabled
	i.changing = true
	i.show()
	bind.Run(i.p.ctx, func(ctx context.Context) error { return i.p.m.SetNetwork(ctx, on) }, func(err error) {
		i.changing = false
		if err != nil {
			i.p.e.Say("The network was not changed: " + err.Error())
		}
		i.show()
	})
}

// rows create an invitation, and show it below.
func (i *invite) rows() []fyne.CanvasObject {
	ends := accessPeriods[0]
	var until *widgets.Button
	until = widgets.NewMenuButton(ends.Text, "clock", func() []*fyne.MenuItem {
		return expiryItems(func(e accessPeriod) {
			ends = e
			until.SetText(e.Text)
		})
	})
	create := func(role string) func() {
		return func() { i.create(protocol.DeviceInviteParams{Role: role, PairedFor: ends.Days}) }
	}
	machine := widgets.NewButton("Invite a machine", "machine", create(protocol.RoleNode))
	machine.Primary = true
	controller := widgets.NewButton("Invite a device to control Fairlead", "window", create(protocol.RoleClient))
	return []fyne.CanvasObject{
		widgets.NewSectionHeading("INVITATION"),
		widgets.NewParagraph("Valid for 10 minutes, once. You approve the device.", style.ColorMuted, "text"),
		widgets.NewField("Access lasts", widgets.Row(style.Inside, -1, until)),
		widgets.Flow(style.Inside, machine, controller), i.message, i.result.Box,
	}
}

func (i *invite) create(params protocol.DeviceInviteParams) {
	i.message.Show()
	i.message.Set("Creating an invitation…", style.ColorMuted)
	bind.Go(i.p.ctx, func(ctx context.Context) (protocol.DeviceInvite, error) { return i.p.m.Invite(ctx, params) }, func(r protocol.DeviceInvite, err error) {
		if err != nil {
			i.message.Set(feed.Sentence(err), style.ColorBad)
			return
		}
		i.message.Hide()
		i.invitation, i.listed, i.paired = r, false, protocol.Device{}
		i.result.Put(i.texts(r))
	})
}

// texts shows an invitation's link, as a QR code too, and its code.
func (i *invite) texts(r protocol.DeviceInvite) fyne.CanvasObject {
	var rows []fyne.CanvasObject
	add := func(name, text string) {
		if text == "" {
			return
		}
		value := code.NewPanel(120)
		value.SetLines(code.PlainLines(text))
		value.SetForward(i.form.Scrolled)
		rows = append(rows, widgets.NewField(name, value, widgets.Row(style.Inside, -1, widgets.NewQuietButton("Copy", "copy", func() { i.p.e.Copy(text) }))))
	}
	where := "On the other computer: Settings › Gateways"
	if r.Role == protocol.RoleClient {
		where = "On the other device: Settings › Gateways"
	}
	add(where, r.Link)
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
func NetworkText(r feed.Pairing) (string, fyne.ThemeColorName) {
	n := r.Network
	switch {
	case r.Problem != "":
		return r.Problem, style.ColorBad
	case n.Problem != "":
		return "Other machines cannot connect to this gateway: " + n.Problem, style.ColorBad
	case n.Listening:
		return fmt.Sprintf("Other machines can connect at %s. Fingerprint: %s.", strings.Join(n.Addresses, ", "), format.Words(n.Words)), style.ColorText
	case n.Enabled:
		return "The gateway is starting to listen.", style.ColorMuted
	}
	return "Other machines cannot connect to this gateway yet. Once they can, only those that you pair may use it.", style.ColorText
}
