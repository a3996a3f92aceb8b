package settings

import (
	"context"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// access is the part of a provider's page with its address and its key, which one button saves. The
// key is stored in the keychain, and afterwards shown only as set.
type access struct {
	m        *models
	p        protocol.Provider
	result   *widgets.Paragraph
	box      *fyne.Container
	address  *widgets.Entry // unused for a fixed address
	key      *widgets.Entry
	asksKey  bool // the field of the key is shown, and not only that one is set
	saveArea *fyne.Container
	draft    unsaved.Draft[[]string]
}

func newAccess(m *models, p protocol.Provider, result *widgets.Paragraph) *access {
	a := &access{m: m, p: p, result: result, box: widgets.Col(style.Group), address: widgets.NewEntry(), key: widgets.NewPasswordEntry(), saveArea: container.NewStack()}
	a.address.SetText(p.BaseURL)
	a.address.SetPlaceHolder("http://127.0.0.1:8000/v1")
	a.address.OnSubmitted = func(string) { a.save() }
	a.key.SetPlaceHolder("Paste the key")
	a.key.OnSubmitted = func(string) { a.save() }
	line, draft := keepDraft(m.page.e.Drafts, "provider "+p.ID, a.address, a.key)
	a.draft = draft
	a.box.Add(line)
	if !p.NeedsKey {
		a.box.Add(widgets.NewField("Address", a.address))
	}
	if p.NeedsKey || p.ID == "compatible" || p.KeySet {
		a.box.Add(widgets.NewField(widgets.Choose(p.NeedsKey, "Key", "Key (optional)"), a.keyRows()...))
	}
	a.showSave()
	a.box.Add(a.saveArea)
	return a
}

// showSave shows the button if there is a field to save.
func (a *access) showSave() {
	if !a.p.NeedsKey || a.asksKey {
		widgets.SetContent(a.saveArea, widgets.Row(style.Inside, -1, widgets.NewButton("Save", "check", a.save)))
	}
}

func (a *access) keyRows() []fyne.CanvasObject {
	if a.p.KeySet && a.key.Text == "" {
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
			a.m.save(a.p, "apiKeys."+a.p.ID, nil, a.result)
		}
		replace.OnTap = func() {
			widgets.SetContent(box, a.newKey())
			a.showSave()
			widgets.FocusIn(a.box, a.key) // it has not been drawn yet
		}
		return []fyne.CanvasObject{box}
	}
	rows := []fyne.CanvasObject{a.newKey()}
	if a.p.KeyURL != "" {
		rows = append(rows, widgets.Row(style.Inside, -1, widgets.NewQuietButton("Get a key", "external", func() { a.m.page.e.Open(host.URL(a.p.KeyURL)) })))
	}
	if a.p.EnvKey != "" {
		rows = append(rows, mutedText(fmt.Sprintf("The environment variable %s contains a key. Paste it here to use it.", a.p.EnvKey)))
	}
	return rows
}

// newKey returns the field for a key, with the place where it is stored.
func (a *access) newKey() fyne.CanvasObject {
	a.asksKey = true
	return widgets.Col(style.Gap, a.key,
		widgets.NewParagraph("Stored in "+secretPlace(a.m.page.e.Feed.View().Status.Status)+".", style.ColorMuted, style.SizeSmall))
}

// save saves the address and then the key, as far as they have changed. The texts stay until then.
func (a *access) save() {
	path, address, key := "providers."+a.p.ID+".baseUrl", strings.TrimSpace(a.address.Text), strings.TrimSpace(a.key.Text)
	if a.p.ID == "compatible" && address == "" {
		a.result.Set("Enter the address of the server, such as http://127.0.0.1:8000/v1.", style.ColorNeedsYou)
		widgets.FocusIn(a.box, a.address)
		return
	}
	a.m.page.run(a.result, a.draft.Saving(func(ctx context.Context) error {
		if address != a.p.BaseURL {
			if err := feed.Set(ctx, a.m.page.e.Feed, path, address); err != nil {
				return err
			}
		}
		if key == "" {
			return nil
		}
		return feed.Set(ctx, a.m.page.e.Feed, "apiKeys."+a.p.ID, key)
	}), func() {
		a.draft.Drop()
		a.m.load(a.p.ID)
	})
}

// save changes a setting of a provider and reloads its page; nil removes the value.
func (m *models) save(p protocol.Provider, path string, value any, result *widgets.Paragraph) {
	m.page.run(result, func(ctx context.Context) error { return feed.Set(ctx, m.page.e.Feed, path, value) }, func() { m.load(p.ID) })
}
