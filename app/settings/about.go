package settings

import (
	"context"
	_ "embed"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// row is a fact with its buttons.
func row(label, text string, buttons ...fyne.CanvasObject) fyne.CanvasObject {
	value := widget.NewLabel(text)
	value.Selectable, value.Wrapping = true, fyne.TextWrapWord
	return fact(label, value, buttons...)
}

// row2 is a fact with a control of its own.
func row2(label string, control fyne.CanvasObject) fyne.CanvasObject {
	return fact(label, widgets.Limit(240, true, control))
}

// secretsText says where keys and tokens are stored.
func secretsText(st protocol.Status) string {
	switch st.SecretStore {
	case "keychain":
		return "System keychain"
	case "":
		return "Unknown"
	}
	return "In " + st.SecretStore + ", readable only by you. No system keychain is available."
}

// about shows the program's version, folders and licences.
func (p *Page) about(version string) fyne.CanvasObject {
	st := p.app.Value.Get().Status
	rows := []fyne.CanvasObject{
		row("Version", version, widgets.NewQuiet("Copy", "copy", func() {
			p.h.Copy(fmt.Sprintf("Fairlead %s, %s/%s, %s", version, runtime.GOOS, runtime.GOARCH, runtime.Version()))
		})),
	}
	if st.Version != "" && st.Version != version {
		rows = append(rows, row("Gateway", st.Version))
	}
	if st.Home != "" {
		rows = append(rows, row("Data", st.Home, widgets.NewQuiet("Open", "folder", func() { p.h.OpenPath(st.Home) })))
	}
	rows = append(rows, row("Keys and tokens", secretsText(st)))
	if st.StartedAt > 0 {
		rows = append(rows, row("Running since", time.UnixMilli(st.StartedAt).Format("Monday 2 January, 15:04")))
	}
	list := container.NewVBox()
	show := widgets.NewQuiet("Show", "down", nil)
	show.OnTap = func() {
		if len(list.Objects) > 0 {
			list.Objects = nil
			show.Set("Show", "down")
		} else {
			text := widgets.NewParagraph(licenceText(), style.ColorMuted, style.SizeSmall)
			list.Objects = []fyne.CanvasObject{text}
			show.Set("Hide", "up")
		}
		list.Refresh()
	}
	rows = append(rows, row("Built with", "Go, Fyne and these open-source libraries", show), list)
	return page(section("Fairlead", muted("An AI agent that works on your computers, under your control.")), widgets.Col(style.Gap, rows...), section("Keyboard shortcuts", keys()))
}

//go:embed licences.txt
var licences string

// licenceText lists the modules in this program with their licences, one per line.
func licenceText() string {
	by := map[string]string{}
	for _, l := range strings.Split(strings.TrimSpace(licences), "\n") {
		if module, licence, ok := strings.Cut(l, " "); ok {
			by[module] = licence
		}
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || len(info.Deps) == 0 {
		return strings.TrimSpace(licences)
	}
	var b strings.Builder
	for _, d := range info.Deps {
		licence := by[d.Path]
		if licence == "" {
			licence = "see its licence"
		}
		fmt.Fprintf(&b, "%s %s · %s\n", d.Path, d.Version, licence)
	}
	return strings.TrimRight(b.String(), "\n")
}

// advanced has the facts for connecting other programs and for troubleshooting.
func (p *Page) advanced() fyne.CanvasObject {
	st := p.app.Value.Get().Status
	listen := "Off: only this app can connect"
	var copyAddress []fyne.CanvasObject
	if st.Listen != "" {
		url := "ws://" + st.Listen + "/ws"
		listen = url
		copyAddress = append(copyAddress, widgets.NewQuiet("Copy", "copy", func() { p.h.Copy(url) }))
	}
	rows := []fyne.CanvasObject{row("Address", listen, copyAddress...)}
	l := p.h.Local
	if l == nil {
		return page(section("Gateway", append(rows, muted("This window shows a remote gateway. Change these settings on the gateway's computer."))...))
	}
	said := muted("Programs need this token to connect. Anyone who has it can do everything you can.")
	token := widgets.NewButton("Copy token", "key", nil)
	token.OnTap = func() {
		bind.Go(p.ctx, func(context.Context) (string, error) { return l.Token() }, func(t string, err error) {
			if err != nil {
				said.Set(problem(err), style.ColorBad)
				return
			}
			p.h.Copy(t)
			said.Set("✓ Token copied.", style.ColorGood)
		})
	}
	entry := widget.NewEntry()
	entry.SetText(l.Listen())
	entry.SetPlaceHolder("127.0.0.1:8787")
	saved := muted("Takes effect at the next start. Empty: 127.0.0.1:8787. “none”: off.")
	save := func() {
		text, err := checkListen(entry.Text)
		if err != nil {
			saved.Set(problem(err), style.ColorBad)
			return
		}
		l.SetListen(text)
		saved.Set("✓ Saved. Takes effect at the next start.", style.ColorGood)
	}
	entry.OnSubmitted = func(string) { save() }
	return page(section("Gateway", append(rows, row("Token", "Stored with the keys, never shown", token), said)...),
		section("Listen address", field(entry, widgets.NewButton("Save", "", save)), saved),
		section("Logs", row("Folder", l.LogDir(), widgets.NewQuiet("Open", "folder", func() { p.h.OpenPath(l.LogDir()) }))))
}
