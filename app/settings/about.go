package settings

import (
	"cmp"
	_ "embed"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/host"
	"fairlead/app/markdown"
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

// pathRow is a folder of the gateway's computer in one line, with a button that copies its whole
// path, and one that opens it on this computer.
func (p *view) pathRow(label, path string) fyne.CanvasObject {
	value := widgets.NewText(path, style.ColorText, "text")
	value.Ellipsis, value.IsPath = true, true
	buttons := []fyne.CanvasObject{widgets.NewQuietButton("Copy", "copy", func() { p.e.Copy(path) })}
	if p.o.Local != nil {
		buttons = append(buttons, widgets.NewQuietButton("Open", "folder", func() { p.e.Open(host.Folder(path)) }))
	}
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

// About describes this program.
type About struct {
	Version string // such as 0.1.0
	Commit  string // of the source; may be empty
	Changes string // in this version, as Markdown; may be empty
}

// summary describes the program in one line, for reports.
func (a About) summary() string {
	return fmt.Sprintf("Fairlead %s, %s/%s, %s", a.full(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// full is the version with the commit.
func (a About) full() string {
	if a.Commit == "" {
		return a.Version
	}
	return a.Version + " (" + a.Commit + ")"
}

func (p *view) aboutPage() fyne.CanvasObject {
	st := p.e.Feed.View().Status.Status
	rows := []fyne.CanvasObject{
		mutedText("An AI agent that works on your computers, under your control."),
		textRow("Fairlead", p.o.About.full(), widgets.NewQuietButton("Copy", "copy", func() { p.e.Copy(p.o.About.summary()) })),
	}
	if st.Version != "" && st.Version != p.o.About.Version {
		rows = append(rows, textRow("Gateway", st.Version))
	}
	if st.Home != "" {
		rows = append(rows, p.pathRow("Data", st.Home))
	}
	rows = append(rows, textRow("Keys and tokens", secretsText(st)))
	if st.StartedAt > 0 {
		rows = append(rows, textRow("Running since", time.UnixMilli(st.StartedAt).Format("Monday 2 January, 15:04")))
	}
	all := []fyne.CanvasObject{p.section("Version", rows...)}
	if p.o.About.Changes != "" {
		text := markdown.NewView()
		text.SetText(p.o.About.Changes)
		all = append(all, p.section(newsSection, text))
	}
	return form(append(all, p.licences())...)
}

// licences is the list of libraries, folded.
func (p *view) licences() fyne.CanvasObject {
	list := container.NewVBox()
	show := widgets.NewQuietButton("Show", "down", nil)
	show.OnTap = func() {
		if len(list.Objects) > 0 {
			list.Objects = nil
			show.Set("Show", "down")
		} else {
			list.Objects = []fyne.CanvasObject{widgets.NewParagraph(licenceText(), style.ColorMuted, style.SizeSmall)}
			show.Set("Hide", "up")
		}
		list.Refresh()
	}
	return p.section("Licences", textRow("Built with", "Go, Fyne and these open-source libraries", show), list)
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
