package settings

import (
	"context"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// addressRows is the field for the server's address.
func (m *models) addressRows(p protocol.Provider, result *widgets.Paragraph) []fyne.CanvasObject {
	entry := widget.NewEntry()
	entry.SetText(p.BaseURL)
	entry.SetPlaceHolder("http://127.0.0.1:8000/v1")
	save := func() {
		value := strings.TrimSpace(entry.Text)
		bind.Run(m.page.ctx, func(ctx context.Context) error {
			return m.page.app.Set(ctx, "providers."+p.ID+".baseUrl", value)
		}, func(err error) {
			if err != nil {
				result.Set(errorText(err), style.ColorBad)
				return
			}
			m.load(p.ID)
		})
	}
	entry.OnSubmitted = func(string) { save() }
	return []fyne.CanvasObject{
		widgets.NewText("Address", style.ColorMuted, style.SizeSmall),
		field(entry, widgets.NewButton("Save address", "", save)),
	}
}

// detectServers returns the area that offers model servers on this computer, and the function that
// searches for them.
func (m *models) detectServers() (fyne.CanvasObject, func()) {
	box := widgets.Col(style.Inside, heading("On this computer"), muted("Looking for model servers…"))
	return box, func() {
		bind.Go(m.page.ctx, m.page.app.Models.Detect, func(servers []protocol.DetectedServer, err error) {
			rows := []fyne.CanvasObject{heading("On this computer")}
			switch {
			case err != nil:
				rows = append(rows, muted(errorText(err)))
			case len(servers) == 0:
				rows = append(rows, muted("No model server is running. Fairlead finds Ollama, LM Studio and llama.cpp automatically."))
			}
			for _, s := range servers {
				status := muted("")
				use := widgets.NewButton("Use", "check", func() { m.useServer(s, status) })
				word := map[string]string{"ready": state.Plural(len(s.Models), "model", "models"), "loading": "loading", "needs-key": "needs a key"}[s.State]
				rows = append(rows, widgets.WithIcon("text", style.Gap, widget.NewIcon(style.IconIn("machine", style.ColorGood)),
					widgets.NewParagraph(fmt.Sprintf("%s at %s, %s", s.Name, s.BaseURL, word), style.ColorText, "text"), use), status)
			}
			box.Objects = rows
			box.Refresh()
		})
	}
}

// useServer selects a detected server and its first model.
func (m *models) useServer(s protocol.DetectedServer, status *widgets.Paragraph) {
	bind.Go(m.page.ctx, func(ctx context.Context) (protocol.ModelRef, error) { return m.page.app.Models.UseServer(ctx, s) }, func(_ protocol.ModelRef, err error) {
		if err != nil {
			status.Set(errorText(err), style.ColorBad)
			return
		}
		m.load(s.Provider)
	})
}
