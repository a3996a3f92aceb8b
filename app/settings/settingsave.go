package settings

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// apply applies the gateway's value. Unsaved text stays, unless it has just been saved.
func (r *settingRow) apply(s state.Setting, saved bool) {
	text := state.SettingText(s.ConfigField, s.Value)
	dirty, changed := r.hasChanges() && !saved, !bytes.Equal(s.Value, r.setting.Value)
	r.setting = s
	if dirty && changed && text != r.typedText() {
		r.showResult("It was changed elsewhere to "+state.SettingWords(s.ConfigField, s.Value)+". Save keeps your value, Discard uses the other one.", style.ColorNeedsYou)
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
		facts = append(facts, "Default: "+state.SettingWords(s.ConfigField, s.Default))
	}
	if limits := state.SettingLimits(s.ConfigField); limits != "" {
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

// hasChanges reports whether there are unsaved changes.
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
	raw, err := state.ParseSetting(r.setting.ConfigField, r.typedText())
	if err != nil {
		r.showError(err)
		return
	}
	r.save(raw, "✓ Saved.", nil)
}

func (r *settingRow) resetToDefault() { r.save(nil, "✓ Reset to the default.", nil) }

// save saves the setting. If the gateway refuses it, the row shows why and the text stays; failed
// resets a control that showed the choice already.
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
		if now.Value = value; value == nil {
			now.Value = now.Default
		}
		if now.Secret && value != nil {
			now.Value = json.RawMessage(`"` + protocol.MaskedSecret + `"`)
		}
		now.Changed = r.setting.Name != "auth.token" && state.SettingText(now.ConfigField, now.Value) != state.SettingText(now.ConfigField, now.Default)
		r.apply(now, true)
		r.showResult(done, style.ColorGood)
		if !before.Secret {
			r.offerUndo(before)
		}
	})
}

// offerUndo offers for a while to restore the previous value.
func (r *settingRow) offerUndo(before state.Setting) {
	r.undoOffer++
	offer := r.undoOffer
	r.undo.OnTap = func() {
		value := before.Value
		if !before.Changed {
			value = nil
		}
		r.undo.Hide()
		r.updateFoot()
		r.save(value, "✓ Change undone.", nil)
	}
	r.undo.Show()
	r.updateFoot()
	r.page.relayout()
	bind.Run(r.page.ctx, func(ctx context.Context) error {
		timer := time.NewTimer(state.UndoTime)
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
	r.showResult(errorText(errors.New(state.SettingRefusal(r.setting, err))), style.ColorBad)
}

func (r *settingRow) showResult(text string, color fyne.ThemeColorName) {
	r.result.Set(text, color)
	r.result.Show()
	r.page.relayout()
}
