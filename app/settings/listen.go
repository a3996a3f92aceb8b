package settings

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// ownGateway are the sections about the gateway of this window, for connecting other programs.
func (p *view) ownGateway() []fyne.CanvasObject {
	address := p.e.Feed.View().Status.Status.Listen
	var rows []fyne.CanvasObject
	if address == "" {
		rows = append(rows, textRow("Address", "Off: only this app can connect"))
	} else {
		url := "ws://" + address + "/ws"
		rows = append(rows, textRow("Address", url, widgets.NewQuietButton("Copy", "copy", func() { p.e.Copy(url) })))
	}
	if p.o.Local == nil {
		return []fyne.CanvasObject{p.section("This gateway", append(rows, mutedText("This window shows a remote gateway. Change these settings on the gateway's computer."))...)}
	}
	return []fyne.CanvasObject{p.section("This gateway", rows...), p.token(), p.listenAddress()}
}

func (p *view) token() fyne.CanvasObject {
	status := mutedText("Programs need this token to connect. Anyone who has it can do everything you can. It is stored with the keys and never shown.")
	token := widgets.NewButton("Copy token", "key", func() {
		bind.Go(p.ctx, func(context.Context) (string, error) { return p.o.Local.Token() }, func(t string, err error) {
			if err != nil {
				setError(status, err)
				return
			}
			p.e.Copy(t)
			status.Set("✓ Token copied.", style.ColorGood)
		})
	})
	return p.section("Token", status, widgets.Row(style.Inside, -1, token))
}

func (p *view) listenAddress() fyne.CanvasObject {
	entry := widgets.NewEntry()
	entry.SetText(p.o.Local.Listen())
	entry.SetPlaceHolder("127.0.0.1:8787")
	line, draft := keepDraft(p.e.Drafts, "listen address", entry)
	saved := mutedText("Takes effect at the next start. Empty means 127.0.0.1:8787; “none” turns it off.")
	save := func() {
		text, err := checkListenAddress(entry.Text)
		if err != nil {
			setError(saved, err)
			return
		}
		p.o.Local.SetListen(text)
		draft.Drop()
		line.Hide()
		saved.Set("✓ Saved. Takes effect at the next start.", style.ColorGood)
	}
	entry.OnSubmitted = func(string) { save() }
	return p.section("Listen address", line, field(entry, widgets.NewButton("Save", "", save)), saved)
}

// checkListenAddress checks whether a typed address is valid for a gateway to listen on.
func checkListenAddress(text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "none" {
		return text, nil
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return "", fmt.Errorf("%q is not an address with a port, such as 127.0.0.1:8787", text)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", fmt.Errorf("%q is not a port number (0 to 65535)", port)
	}
	if host == "" {
		return "", fmt.Errorf("add the host: 127.0.0.1:%s for this computer only, 0.0.0.0:%s for the whole network", port, port)
	}
	return text, nil
}
