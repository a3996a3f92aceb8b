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

// advancedSection has the facts for connecting other programs and for troubleshooting.
func (p *Page) advancedSection() fyne.CanvasObject {
	st := p.app.View().Status.Status
	listen := "Off: only this app can connect"
	var copyAddress []fyne.CanvasObject
	if st.Listen != "" {
		url := "ws://" + st.Listen + "/ws"
		listen = url
		copyAddress = append(copyAddress, widgets.NewQuietButton("Copy", "copy", func() { p.handlers.Copy(url) }))
	}
	rows := []fyne.CanvasObject{textRow("Address", listen, copyAddress...)}
	l := p.handlers.Local
	if l == nil {
		return page(section("Gateway", append(rows, mutedText("This window shows a remote gateway. Change these settings on the gateway's computer."))...))
	}
	status := mutedText("Programs need this token to connect. Anyone who has it can do everything you can.")
	token := widgets.NewButton("Copy token", "key", nil)
	token.OnTap = func() {
		bind.Go(p.ctx, func(context.Context) (string, error) { return l.Token() }, func(t string, err error) {
			if err != nil {
				setError(status, err)
				return
			}
			p.handlers.Copy(t)
			status.Set("✓ Token copied.", style.ColorGood)
		})
	}
	entry := widgets.NewEntry()
	entry.SetText(l.Listen())
	entry.SetPlaceHolder("127.0.0.1:8787")
	line, draft := keepDraft(p.app.Drafts, "listen address", entry)
	saved := mutedText("Takes effect at the next start. Empty: 127.0.0.1:8787. “none”: off.")
	save := func() {
		text, err := checkListenAddress(entry.Text)
		if err != nil {
			setError(saved, err)
			return
		}
		l.SetListen(text)
		draft.Drop()
		line.Hide()
		saved.Set("✓ Saved. Takes effect at the next start.", style.ColorGood)
	}
	entry.OnSubmitted = func(string) { save() }
	return page(section("Gateway", append(rows, textRow("Token", "Stored with the keys, never shown", token), status)...),
		section("Listen address", line, field(entry, widgets.NewButton("Save", "", save)), saved),
		section("Logs", textRow("Folder", l.LogDir, widgets.NewQuietButton("Open", "folder", func() { p.handlers.OpenPath(l.LogDir) }))))
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
