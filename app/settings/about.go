package settings

import (
	"cmp"
	_ "embed"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// textRow is a fact with its buttons.
func textRow(label, text string, buttons ...fyne.CanvasObject) fyne.CanvasObject {
	value := widget.NewLabel(text)
	value.Selectable, value.Wrapping = true, fyne.TextWrapWord
	return labelledValue(label, value, buttons...)
}

func secretsText(st protocol.Status) string {
	switch st.SecretStore {
	case "keychain":
		return "System keychain"
	case "":
		return "Unknown"
	}
	return "In " + st.SecretStore + ", readable only by you. No system keychain is available."
}

func (p *Page) aboutPage() fyne.CanvasObject {
	st := p.app.View().Status.Status
	var rows []fyne.CanvasObject
	version := []fyne.CanvasObject{widgets.NewQuietButton("Copy", "copy", func() { p.handlers.Copy(p.about.summary()) })}
	if p.about.Changes != "" {
		version = append([]fyne.CanvasObject{widgets.NewQuietButton(WhatsNewTitle, "list", func() { p.pages.open(WhatsNewTitle) })}, version...)
	}
	rows = append(rows, textRow("Version", p.about.full(), version...))
	if st.Version != "" && st.Version != p.about.Version {
		rows = append(rows, textRow("Gateway", st.Version))
	}
	if st.Home != "" {
		rows = append(rows, textRow("Data", st.Home, widgets.NewQuietButton("Open", "folder", func() { p.handlers.OpenPath(st.Home) })))
	}
	rows = append(rows, textRow("Keys and tokens", secretsText(st)))
	if st.StartedAt > 0 {
		rows = append(rows, textRow("Running since", time.UnixMilli(st.StartedAt).Format("Monday 2 January, 15:04")))
	}
	list := container.NewVBox()
	show := widgets.NewQuietButton("Show", "down", nil)
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
	rows = append(rows, textRow("Built with", "Go, Fyne and these open-source libraries", show), list)
	return page(section("Fairlead", mutedText("An AI agent that works on your computers, under your control.")), widgets.Col(style.Gap, rows...), section("Keyboard shortcuts", mutedText(widgets.ShortcutName("/", false)+" lists them in the main window.")))
}

//go:embed licences.txt
var licences string

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
		fmt.Fprintf(&b, "%s %s · %s\n", d.Path, d.Version, cmp.Or(by[d.Path], "see its licence"))
	}
	return strings.TrimRight(b.String(), "\n")
}
