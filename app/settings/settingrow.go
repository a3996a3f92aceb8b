package settings

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// settingRow is one setting: name, description, control, default, and result of the last change.
type settingRow struct {
	page    *allSettings
	setting Setting
	box     fyne.CanvasObject
	mark    *mark

	changedMark *widgets.Text // "Changed"
	control     *fyne.Container
	setControl  func(text string) // sets the control's value
	typedText   func() string     // returns the control's value; nil if each choice is saved at once
	focusTarget fyne.Focusable

	savedText   string // the control's value without unsaved changes
	typed       func() // saves the draft; nil if each choice is saved at once
	dropDraft   func()
	saveButtons *fyne.Container
	facts       *widgets.Paragraph // default and limits
	reset       *widgets.Button
	result      *widgets.Paragraph
	undo        *widgets.Button
	undoOffer   int // number of the latest offer to undo
	foot        *fyne.Container
}

func newSettingRow(a *allSettings, s Setting) *settingRow {
	r := &settingRow{page: a, setting: s, control: container.NewStack(), result: widgets.NewStatus(), facts: widgets.NewParagraph("", style.ColorMuted, style.SizeSmall)}
	title := widgets.NewText(titleOf(s), style.ColorText, "text")
	title.Style.Bold, title.Ellipsis = true, true
	r.changedMark = widgets.NewText("Changed", style.ColorAccent, style.SizeSmall)
	path := widgets.NewText(s.Name, style.ColorMuted, style.SizeSmall)
	path.Style.Monospace, path.Ellipsis = true, true
	r.reset = widgets.NewQuietButton("Reset to default", "undo", r.resetToDefault)
	r.undo = widgets.NewQuietButton("Undo", "undo", nil)
	r.reset.Small, r.undo.Small = true, true
	r.undo.Hide()
	r.result.Hide()
	save := widgets.NewButton("Save", "check", r.saveTyped)
	save.Primary, save.Small = true, true
	drop := widgets.NewQuietButton("Discard", "", r.discard)
	drop.Small = true
	r.saveButtons = widgets.Flow(style.Inside, save, drop)
	r.saveButtons.Hide()
	r.buildControl()
	widgets.NameControls(title.Text, r.control)
	r.foot = widgets.Flow(style.Inside, r.reset, r.undo)
	r.mark = newMark(container.New(titleLayout{}, title, r.changedMark, path))
	r.box = widgets.Col(style.Gap, r.mark.title, widgets.NewParagraph(s.Description, style.ColorMuted, "text"), r.control, r.saveButtons, r.facts,
		r.foot, r.result)
	r.apply(s, true)
	r.restoreDraft()
	return r
}

// draftOf returns the name of the draft of a setting.
func draftOf(name string) string { return "setting " + name }

// restoreDraft shows the text that the person left without saving it.
func (r *settingRow) restoreDraft() {
	e, ok := r.focusTarget.(*widgets.Entry)
	if !ok || r.typedText == nil {
		return
	}
	draft, text := unsaved.Open(r.page.drafts, draftOf(r.setting.Name), "")
	r.dropDraft = draft.Drop
	if draft.IsRestored {
		if r.setting.Secret {
			r.control.Objects = []fyne.CanvasObject{e} // it may be hidden behind the stored one
		}
		e.SetText(text)
		r.result.Set(widgets.DraftRestored, style.ColorNeedsYou)
		r.result.Show()
	}
	r.typed = func() {
		if r.hasChanges() {
			draft.Save(e.Text)
		} else {
			draft.Drop()
		}
	}
}

func (r *settingRow) buildControl() {
	switch f := r.setting.ConfigField; {
	case r.setting.Pattern:
		r.nameControl()
	case f.Secret:
		r.secretControl()
	case f.Type == "boolean":
		r.choiceControl([]choice[string]{{"On", "true"}, {"Off", "false"}})
	case len(f.Enum) > 0:
		var list []choice[string]
		for _, e := range f.Enum {
			list = append(list, choice[string]{choiceName(f, e), e})
		}
		r.choiceControl(list)
	case f.Format == protocol.FormatLines || f.Type == "list":
		r.multilineControl()
	default:
		r.lineControl()
	}
}

func (r *settingRow) focus() {
	if r.focusTarget != nil {
		widgets.FocusIn(r.box, r.focusTarget)
	}
}

// titleLayout is a name, a mark after it, and a path at the right, which is shortened first.
type titleLayout struct{}

func (titleLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(120, max(o[0].MinSize().Height, o[1].MinSize().Height, o[2].MinSize().Height))
}

func (titleLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	title, mark, path := o[0].(*widgets.Text), o[1].(*widgets.Text), o[2].(*widgets.Text)
	full := func(t *widgets.Text) float32 {
		return fyne.MeasureText(t.Text, style.Size(t.SizeName), t.Style).Width + 1
	}
	rest := size.Width
	w := min(full(title), rest)
	title.Resize(fyne.NewSize(w, size.Height))
	rest -= w + style.Inside
	if mark.Visible() {
		m := full(mark)
		mark.Resize(fyne.NewSize(m, size.Height))
		mark.Move(fyne.NewPos(w+style.Inside, 0))
		rest -= m + style.Inside
	}
	p := max(min(full(path), rest), 0)
	path.Resize(fyne.NewSize(p, size.Height))
	path.Move(fyne.NewPos(size.Width-p, 0))
}

// apply applies the gateway's value. Unsaved text stays, unless it has just been saved.
func (r *settingRow) apply(s Setting, saved bool) {
	text := settingText(s.ConfigField, s.Value)
	dirty, changed := r.hasChanges() && !saved, !bytes.Equal(s.Value, r.setting.Value)
	r.setting = s
	if dirty && changed && text != r.typedText() {
		r.showResult("It was changed elsewhere to "+settingWords(s.ConfigField, s.Value)+". Save keeps your value, Discard uses the other one.", style.ColorNeedsYou)
	}
	r.savedText = text
	if saved || changed && !dirty {
		r.setControl(text)
	}
	widgets.SetVisible(r.saveButtons, r.hasChanges())
	widgets.SetVisible(r.changedMark, s.Changed)
	widgets.SetVisible(r.reset, s.Changed && !s.Secret)
	r.updateFoot()
	var facts []string
	if s.Default != nil {
		facts = append(facts, "Default: "+settingWords(s.ConfigField, s.Default))
	}
	if limits := settingLimits(s.ConfigField); limits != "" {
		facts = append(facts, limits)
	}
	if s.Restart {
		facts = append(facts, "takes effect at the next start")
	}
	line := strings.Join(facts, " · ")
	r.facts.Set(line, style.ColorMuted)
	widgets.SetVisible(r.facts, line != "" && !s.Pattern)
}

// updateFoot shows the buttons below if there is one.
func (r *settingRow) updateFoot() { widgets.SetVisible(r.foot, r.reset.Visible() || r.undo.Visible()) }

func (r *settingRow) hasChanges() bool { return r.typedText != nil && r.typedText() != r.savedText }

func (r *settingRow) discard() {
	r.setControl(r.savedText)
	r.result.Hide()
	widgets.SetVisible(r.saveButtons, false)
	r.page.relayout()
}

func (r *settingRow) saveTyped() {
	if !r.hasChanges() {
		return
	}
	raw, err := parseSetting(r.setting.ConfigField, r.typedText())
	if err != nil {
		r.showError(err)
		return
	}
	r.save(raw, "✓ Saved.", nil)
}

func (r *settingRow) resetToDefault() { r.save(nil, "✓ Reset to the default.", nil) }

// save saves the setting. A refused text stays; failed resets a control that showed the choice.
func (r *settingRow) save(value json.RawMessage, done string, failed func()) {
	before := r.setting
	r.page.save(r.setting.Name, value, func(err error) {
		if err != nil {
			r.showError(err)
			widgets.Call(failed)
			return
		}
		if r.setting.Restart {
			done += " It takes effect at the next start."
		}
		now := r.setting
		now.Value = value
		if value == nil {
			now.Value = now.Default
		}
		if now.Secret && value != nil {
			now.Value = json.RawMessage(`"` + protocol.MaskedSecret + `"`)
		}
		now.Changed = r.setting.Name != "auth.token" && settingText(now.ConfigField, now.Value) != settingText(now.ConfigField, now.Default)
		widgets.Call(r.dropDraft)
		r.apply(now, true)
		r.showResult(done, style.ColorGood)
		if !before.Secret {
			r.offerUndo(before)
		}
	})
}

// offerUndo offers for a while to restore the previous value.
func (r *settingRow) offerUndo(before Setting) {
	r.undoOffer++
	offer := r.undoOffer
	r.undo.OnTap = func() {
		r.undo.Hide()
		r.updateFoot()
		r.save(widgets.Choose(before.Changed, before.Value, nil), "✓ Change undone.", nil)
	}
	r.undo.Show()
	r.updateFoot()
	r.page.relayout()
	bind.Run(r.page.ctx, func(ctx context.Context) error {
		timer := time.NewTimer(feed.UndoTime)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		return nil
	}, func(error) {
		if offer == r.undoOffer {
			r.undo.Hide()
			r.updateFoot()
			r.result.Hide()
			r.page.relayout()
		}
	})
}

func (r *settingRow) showError(err error) {
	r.showResult(feed.Sentence(errors.New(refusalText(r.setting, err))), style.ColorBad)
}

func (r *settingRow) showResult(text string, color fyne.ThemeColorName) {
	r.result.Set(text, color)
	r.result.Show()
	r.page.relayout()
}
