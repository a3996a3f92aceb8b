package audit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

func item(e protocol.AuditEntry, v state.View, now time.Time) widgets.ListItem {
	title, text := state.AuditLine(e, v)
	title, _ = state.Reveal(title)
	text, _ = state.Reveal(text)
	it := widgets.ListItem{Icon: "edit", Title: title, Text: text, Detail: state.When(e.At, now)}
	if e.Kind == protocol.AuditCall {
		it.Icon, it.Color = "check", style.ColorGood
		if e.Verdict == "deny" {
			it.Icon, it.Color = "denied", style.ColorBad
		}
	}
	return it
}

// open shows all details of an entry.
func (p *Page) open(i int) {
	if i >= len(p.shown) {
		return
	}
	e := p.shown[i]
	p.showsEntry = true
	view := p.h.View()
	title, text := state.AuditLine(e, view)
	machine, chat := state.AuditPlace(e, view)
	title, _ = state.Reveal(title)
	heading := widgets.NewParagraph(title, style.ColorText, "text")
	heading.SetStyle(fyne.TextStyle{Bold: true})
	rows := []fyne.CanvasObject{heading, widgets.NewParagraph(text, style.ColorText, "text")}
	for _, f := range []struct{ name, value string }{
		{"Entry", fmt.Sprint(e.Seq)},
		{"When", time.UnixMilli(e.At).Format("2 January 2006 15:04:05")},
		{"Who", state.AuditWho(e, view)},
		{"Machine", machine},
		{"Chat", chat},
		{"Rule", e.Rule},
		{"Rule at that time", string(e.Policy)},
		{"Approval", string(e.Approval)},
		{"Arguments, SHA-256", e.Input},
		{"Chain hash", e.Hash},
	} {
		if f.value != "" {
			value, _ := state.Reveal(f.value)
			l := widget.NewLabel(value)
			l.Selectable, l.Wrapping = true, fyne.TextWrapWord
			rows = append(rows, widgets.NewField(f.name, widgets.WithoutPadding(l)))
		}
	}
	var buttons []fyne.CanvasObject
	if e.SessionKey != "" && p.h.OpenChat != nil {
		buttons = append(buttons, widgets.NewButton("Open chat", "chat", func() { p.h.OpenChat(e.SessionKey) }))
	}
	if state.CreatedPermission(e) {
		undo := widgets.NewQuietButton("Revoke this permission", "undo", func() { p.undo(e) })
		undo.Danger = true
		buttons = append(buttons, undo)
	}
	if buttons != nil {
		rows = append(rows, widgets.Flow(style.Inside, buttons...))
	}
	back := widgets.NewQuietButton("All entries", "back", p.openList)
	p.Box.Objects = []fyne.CanvasObject{widgets.NewPage("Audit log entry", widgets.NewForm(rows...), back)}
	p.Box.Refresh()
}

// undo revokes the permission behind an entry: the grants of the approval, or else the rule that
// the entry names.
func (p *Page) undo(e protocol.AuditEntry) {
	what := ""
	p.run(func(ctx context.Context) error {
		if e.Approval != "" {
			res, err := p.b.RevokeGrants(ctx, e.Approval)
			if err == nil || e.Rule == "" {
				what = revokedText(res) + " Calls that already ran are not undone."
				return err
			}
		}
		what = "The rule was deleted. Calls that already ran are not undone."
		return p.b.DeleteRule(ctx, e.Rule)
	}, func(err error) {
		if err != nil {
			p.h.Say("Nothing was revoked: " + err.Error())
			return
		}
		p.h.Say(what)
		p.openList()
		p.Load()
	})
}

// revokedText says what is no longer allowed.
func revokedText(r protocol.ApprovalUndoResult) string {
	var parts []string
	if r.Rules > 0 {
		parts = append(parts, state.Plural(r.Rules, "rule", "rules"))
	}
	if r.Grants > 0 {
		parts = append(parts, state.Plural(r.Grants, "permission", "permissions")+" of a chat")
	}
	if len(parts) == 0 {
		return "There was nothing left to revoke."
	}
	return "Revoked: " + strings.Join(parts, " and ") + "."
}

// Back returns from one entry to the list, and reports whether one was shown.
func (p *Page) Back() bool {
	if !p.showsEntry {
		return false
	}
	p.openList()
	widgets.Focus(p.list)
	return true
}
