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
	"fairlead/gateway/protocol"
)

// take applies the gateway's value. Unsaved text stays, unless it has just been saved.
func (r *settingRow) take(s state.Setting, saved bool) {
	text := state.SettingText(s.ConfigField, s.Value)
	dirty, changed := r.dirty() && !saved, !bytes.Equal(s.Value, r.s.Value)
	r.s = s
	if dirty && changed && text != r.typed() {
		r.say("It was changed elsewhere to "+state.SettingWords(s.ConfigField, s.Value)+". Save keeps your value, Discard uses the other one.", style.ColorNeedsYou)
	}
	r.base = text
	if saved || changed && !dirty {
		r.put(text)
	}
	r.showIf(r.typing, r.dirty())
	r.showIf(r.mark, s.Changed)
	r.showIf(r.reset, s.Changed && !s.Secret)
	r.footIf()
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
	r.basis.Set(line, style.ColorMuted)
	r.showIf(r.basis, line != "" && !s.Pattern)
}

// footIf shows the buttons below if there is one.
func (r *settingRow) footIf() { r.showIf(r.foot, r.reset.Visible() || r.undo.Visible()) }

// dirty reports whether there are unsaved changes.
func (r *settingRow) dirty() bool { return r.typed != nil && r.typed() != r.base }

func (r *settingRow) discard() {
	r.put(r.base)
	r.said.Hide()
	r.showIf(r.typing, false)
	r.a.relayout()
}

func (r *settingRow) saveTyped() {
	if !r.dirty() {
		return
	}
	raw, err := state.ParseSetting(r.s.ConfigField, r.typed())
	if err != nil {
		r.fail(err)
		return
	}
	r.save(raw, "✓ Saved.", nil)
}

func (r *settingRow) toDefault() { r.save(nil, "✓ Reset to the default.", nil) }

// save saves the setting. If the gateway refuses it, the row shows why and the text stays; failed
// resets a control that showed the choice already.
func (r *settingRow) save(value json.RawMessage, done string, failed func()) {
	before := r.s
	r.a.save(r.s.Name, value, func(err error) {
		if err != nil {
			r.fail(err)
			call(failed)
			return
		}
		if r.s.Restart {
			done += " It takes effect at the next start."
		}
		now := r.s
		if now.Value = value; value == nil {
			now.Value = now.Default
		}
		if now.Secret && value != nil {
			now.Value = json.RawMessage(`"` + protocol.MaskedSecret + `"`)
		}
		now.Changed = r.s.Name != "auth.token" && state.SettingText(now.ConfigField, now.Value) != state.SettingText(now.ConfigField, now.Default)
		r.take(now, true)
		r.say(done, style.ColorGood)
		if !before.Secret {
			r.offerUndo(before)
		}
	})
}

// offerUndo offers for a while to restore the previous value.
func (r *settingRow) offerUndo(before state.Setting) {
	r.undoTime++
	offer := r.undoTime
	r.undo.OnTap = func() {
		value := before.Value
		if !before.Changed {
			value = nil
		}
		r.undo.Hide()
		r.footIf()
		r.save(value, "✓ Change undone.", nil)
	}
	r.undo.Show()
	r.footIf()
	r.a.relayout()
	bind.Go(r.a.ctx, func(ctx context.Context) (struct{}, error) {
		timer := time.NewTimer(state.UndoTime)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		return struct{}{}, nil
	}, func(struct{}, error) {
		if offer == r.undoTime {
			r.undo.Hide()
			r.footIf()
			r.said.Hide()
			r.a.relayout()
		}
	})
}

func (r *settingRow) fail(err error) {
	r.say(problem(errors.New(state.SettingRefusal(r.s, err))), style.ColorBad)
}

func (r *settingRow) say(text string, color fyne.ThemeColorName) {
	r.said.Set(text, color)
	r.said.Show()
	r.a.relayout()
}
