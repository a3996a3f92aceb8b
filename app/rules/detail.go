package rules

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// detail is the page of one rule, with the calls that it would have decided.
type detail struct {
	p       *Page
	rule    protocol.Rule
	text    *widget.Entry
	verdict *widgets.Button
	expires *widgets.Button
	result  *fyne.Container
	note    *widgets.Paragraph
}

type verdict struct{ value, words string }

var verdicts = []verdict{{"allow", "Allow"}, {"ask", "Ask"}, {"deny", "Deny"}}

// expiry is a possible validity period of a rule; 0 is unlimited.
type expiry struct {
	words string
	d     time.Duration
}

const day = 24 * time.Hour

var expiries = []expiry{{"Never", 0}, {"In an hour", time.Hour}, {"Tomorrow", day}, {"In a week", 7 * day}, {"In 30 days", 30 * day}}

func (p *Page) open(r protocol.Rule) {
	d := &detail{p: p, rule: r, text: widget.NewMultiLineEntry(), result: container.NewVBox(), note: widgets.NewParagraph("", style.ColorBad, "text")}
	p.detail = d
	d.text.TextStyle.Monospace, d.text.Wrapping = true, fyne.TextWrapBreak
	d.text.SetMinRowsVisible(12)
	d.text.SetText(indent(r.Policy))
	edit, remove := state.Changeable(r)
	d.verdict, d.expires = widgets.NewMenuButton("", "", d.verdictMenu), widgets.NewMenuButton("", "", d.expiresMenu)
	d.text.OnChanged = func(string) { d.show() }
	words, _ := state.Reveal(r.Words)
	if r.ID == "" {
		words = "New rule"
	}
	heading := widgets.NewParagraph(words, style.ColorText, "text")
	heading.SetStyle(fyne.TextStyle{Bold: true})
	rows := []fyne.CanvasObject{heading}
	if r.Problem != "" {
		rows = append(rows, widgets.WithIcon("text", 0, widget.NewIcon(style.IconIn("warning", style.ColorNeedsYou)),
			widgets.NewParagraph("Turned off: "+r.Problem, style.ColorNeedsYou, "text")))
	}
	if r.ID != "" {
		about := state.RuleOrigin(r)
		if r.CreatedAt != 0 {
			about += ", " + state.When(r.CreatedAt, p.now())
		}
		if use := state.RuleUse(r, p.now()); use != "" {
			about += " · " + use
		}
		rows = append(rows, widgets.NewParagraph(about, style.ColorMuted, style.SizeSmall))
	}
	if edit {
		rows = append(rows, widgets.Row(style.Group, -1, widgets.NewField("Decision", d.verdict), widgets.NewField("Expires", d.expires)))
	} else {
		d.text.Disable()
	}
	rows = append(rows, widgets.NewField("Rule (JSON)", d.text), d.note)
	if r.Origin == protocol.RuleFromConfig {
		rows = append(rows, widgets.NewParagraph("This rule comes from toolApproval in the configuration. Change it there.", style.ColorMuted, "text"))
	}
	rows = append(rows, widgets.Flow(style.Inside, d.buttons(edit, remove)...), d.result)
	back := widgets.NewQuietButton("All rules", "back", func() { p.openList() })
	p.Box.Objects = []fyne.CanvasObject{widgets.NewPage("Rule", widgets.NewForm(rows...), back)}
	d.show()
	p.Box.Refresh()
}

func (d *detail) buttons(edit, remove bool) []fyne.CanvasObject {
	if d.rule.Origin == protocol.RuleFromConfig {
		return []fyne.CanvasObject{widgets.NewButton("Open the configuration", "settings", d.p.h.Config)}
	}
	list := []fyne.CanvasObject{widgets.NewButton("Check against earlier calls", "reset", d.check)}
	if edit {
		save := widgets.NewButton("Save", "check", d.save)
		save.Primary = true
		list = append(list, save)
	}
	if remove && d.rule.ID != "" {
		b := widgets.NewQuietButton("Delete", "trash", func() { d.p.remove(d.rule) })
		if d.rule.Origin == protocol.RuleFromChat {
			b.SetText("Revoke")
		}
		b.Danger = true
		list = append(list, b)
	}
	return list
}

func indent(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

func (d *detail) show() {
	f, err := state.FieldsOf(json.RawMessage(d.text.Text))
	if err != nil {
		d.showError("This is not a rule: " + err.Error())
		return
	}
	d.showError("")
	d.verdict.SetText(f.Verdict)
	for _, v := range verdicts {
		if v.value == f.Verdict {
			d.verdict.SetText(v.words)
		}
	}
	ends := "Never"
	if !f.Expires.IsZero() {
		ends = f.Expires.Local().Format("2 Jan 2006 15:04")
	}
	d.expires.SetText(ends)
}

func (d *detail) set(change func(*state.RuleFields)) {
	raw := json.RawMessage(d.text.Text)
	f, err := state.FieldsOf(raw)
	if err != nil {
		return // a note explains this already
	}
	change(&f)
	if raw, err = state.WithFields(raw, f); err == nil {
		d.text.SetText(indent(raw))
	}
}

func (d *detail) verdictMenu() []*fyne.MenuItem {
	return state.Map(verdicts, func(v verdict) *fyne.MenuItem {
		return fyne.NewMenuItem(v.words, func() { d.set(func(f *state.RuleFields) { f.Verdict = v.value }) })
	})
}

func (d *detail) expiresMenu() []*fyne.MenuItem {
	return state.Map(expiries, func(t expiry) *fyne.MenuItem {
		return fyne.NewMenuItem(t.words, func() {
			d.set(func(f *state.RuleFields) {
				f.Expires = time.Time{}
				if t.d > 0 {
					f.Expires = d.p.now().Add(t.d)
				}
			})
		})
	})
}

func (d *detail) save() {
	raw := json.RawMessage(d.text.Text)
	if !json.Valid(raw) {
		return
	}
	params := protocol.RulePutParams{ID: d.rule.ID, Policy: raw}
	bind.Call(d.p.run, d.p.gateway, protocol.RulePut, params, func(rule protocol.Rule, err error) {
		if err != nil {
			d.showError("The rule was not saved: " + err.Error())
			d.p.Box.Refresh()
			return
		}
		if rule.Problem != "" {
			d.p.open(rule) // the error message is shown
		} else {
			d.p.openList()
		}
		d.p.Load()
	})
}

// check finds the earlier calls that the rule would have decided differently.
func (d *detail) check() {
	raw := json.RawMessage(d.text.Text)
	if !json.Valid(raw) {
		return
	}
	var res protocol.RuleTryResult
	d.p.run(func(ctx context.Context) (err error) {
		res, err = state.TryRule(ctx, d.p.gateway, raw)
		return err
	}, func(err error) {
		if err != nil {
			d.showError("The check failed: " + err.Error())
			d.p.Box.Refresh()
			return
		}
		message := state.NoCallsText
		if res.Looked > 0 {
			message = fmt.Sprintf("%s: it decides %d of them differently.", state.CheckedText(res.Looked), len(res.Changed))
		}
		rows := []fyne.CanvasObject{widgets.NewText(message, style.ColorText, "text")}
		for _, c := range res.Changed {
			line, _ := state.Reveal(d.p.view.CallLine(c.Call))
			t := widgets.NewText(line, style.ColorText, style.SizeSmall)
			t.Style.Monospace, t.Ellipsis = true, true
			rows = append(rows, widgets.Row(style.Inside, 0, t, widgets.NewText("was "+c.Was+", now "+c.Now, style.ColorMuted, style.SizeSmall),
				widgets.NewText(state.When(c.Call.RequestedAt, d.p.now()), style.ColorMuted, style.SizeSmall)))
		}
		widgets.SetContent(d.result, rows...)
		d.p.Box.Refresh()
	})
}

// showError shows an error; an empty text takes no space.
func (d *detail) showError(text string) {
	d.note.Set(text, style.ColorBad)
	if on := text != ""; on != d.note.Visible() {
		widgets.SetVisible(d.note, on)
		d.p.Box.Refresh()
	}
}
