package settings

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// keyRows is the field for an API key: stored in the keychain, and afterwards shown only as set.
func (m *models) keyRows(p protocol.Provider, result *widgets.Paragraph) []fyne.CanvasObject {
	if p.KeySet {
		remove := widgets.NewQuietButton("Remove", "trash", nil)
		replace := widgets.NewQuietButton("Replace", "edit", nil)
		box := container.NewStack()
		set := widgets.Flow(style.Inside, widget.NewIcon(style.IconIn("key", style.ColorGood)), widgets.NewText("A key is set.", style.ColorText, "text"), replace, remove)
		box.Objects = []fyne.CanvasObject{set}
		remove.OnTap = func() { // a removed key cannot be restored, so it asks first
			if !remove.Danger {
				remove.Danger = true
				remove.Set("Remove permanently", "trash")
				box.Refresh()
				return
			}
			m.save(p, "apiKeys."+p.ID, nil, result)
		}
		replace.OnTap = func() {
			entry, row := m.keyEntry(p, result)
			widgets.SetContent(box, row)
			widgets.Focus(entry)
		}
		return []fyne.CanvasObject{box}
	}
	_, entry := m.keyEntry(p, result)
	rows := []fyne.CanvasObject{entry}
	if u, err := url.Parse(p.KeyURL); err == nil && p.KeyURL != "" {
		rows = append(rows, widgets.Row(style.Inside, -1, widgets.NewQuietButton("Get a key", "external", func() { m.page.handlers.OpenURL(u) })))
	}
	if p.EnvKey != "" {
		rows = append(rows, mutedText(fmt.Sprintf("The environment variable %s contains a key. Paste it here to use it.", p.EnvKey)))
	}
	return rows
}

// keyEntry returns the field alone, and with its button. The text stays until it is saved.
func (m *models) keyEntry(p protocol.Provider, result *widgets.Paragraph) (entry *widgets.Entry, row fyne.CanvasObject) {
	entry = widgets.NewPasswordEntry()
	entry.SetPlaceHolder("Paste the key")
	place := widgets.NewParagraph("Stored in "+state.SecretPlace(m.page.app.Value.Get().Status)+".", style.ColorMuted, style.SizeSmall)
	save := func() {
		if key := strings.TrimSpace(entry.Text); key != "" {
			m.save(p, "apiKeys."+p.ID, key, result)
		}
	}
	entry.OnSubmitted = func(string) { save() }
	return entry, widgets.Col(style.Gap, field(entry, widgets.NewButton("Save key", "key", save)), place)
}

// save changes a setting of a provider and reloads its page; nil removes the value.
func (m *models) save(p protocol.Provider, path string, value any, result *widgets.Paragraph) {
	m.page.run(result, func(ctx context.Context) error { return m.page.app.Set(ctx, path, value) }, func() { m.load(p.ID) })
}

func (m *models) addressRows(p protocol.Provider, result *widgets.Paragraph) []fyne.CanvasObject {
	entry := widgets.NewEntry()
	entry.SetText(p.BaseURL)
	entry.SetPlaceHolder("http://127.0.0.1:8000/v1")
	save := func() { m.save(p, "providers."+p.ID+".baseUrl", strings.TrimSpace(entry.Text), result) }
	entry.OnSubmitted = func(string) { save() }
	return []fyne.CanvasObject{
		widgets.NewText("Address", style.ColorMuted, style.SizeSmall),
		field(entry, widgets.NewButton("Save address", "", save)),
	}
}

// detectServers returns the area of model servers on this computer, and the search for them.
func (m *models) detectServers() (fyne.CanvasObject, func()) {
	box := widgets.Col(style.Inside, heading("On this computer"), mutedText("Looking for model servers…"))
	return box, func() {
		bind.Go(m.page.ctx, m.page.app.Models.Detect, func(servers []protocol.DetectedServer, err error) {
			rows := []fyne.CanvasObject{heading("On this computer")}
			switch {
			case err != nil:
				rows = append(rows, mutedText(state.Sentence(err)))
			case len(servers) == 0:
				rows = append(rows, mutedText("No model server is running. Fairlead finds Ollama, LM Studio and llama.cpp automatically."))
			}
			for _, s := range servers {
				status := widgets.NewStatus()
				use := widgets.NewButton("Use", "check", func() {
					m.page.run(status, func(ctx context.Context) error {
						_, err := m.page.app.Models.UseServer(ctx, s) // and its first model
						return err
					}, func() { m.load(s.Provider) })
				})
				word := map[string]string{"ready": state.Plural(len(s.Models), "model", "models"), "loading": "loading", "needs-key": "needs a key"}[s.State]
				rows = append(rows, widgets.WithIcon("text", style.Gap, widget.NewIcon(style.IconIn("machine", style.ColorGood)),
					widgets.NewParagraph(fmt.Sprintf("%s at %s, %s", s.Name, s.BaseURL, word), style.ColorText, "text"), use), status)
			}
			widgets.SetContent(box, rows...)
		})
	}
}
