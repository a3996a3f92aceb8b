package rules

import (
	"bytes"
	"context"
	"encoding/json"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// detail is the page of one rule: its form, or its JSON, with the earlier calls that it covers.
type detail struct {
	p       *Page
	rule    protocol.Rule
	policy  json.RawMessage // as edited so far
	command string          // as typed, also while it is incomplete
	draft   unsaved.Draft[draft]
	edit    bool // it may be edited

	form    *form // nil while the JSON is shown
	text    *widgets.Entry
	editor  *fyne.Container // form or text
	toggle  *widgets.Button
	note    *widgets.Paragraph
	preview *preview
}

// draft is the unsaved content of a rule's form.
type draft struct{ policy, command string }

func (p *Page) open(r protocol.Rule) {
	saved, left := unsaved.Open(p.e.Drafts, "rule "+r.ID, draft{policy: string(r.Policy)})
	d := &detail{p: p, rule: r, policy: json.RawMessage(left.policy), command: left.command, draft: saved, note: widgets.NewParagraph("", style.ColorBad, "text"), editor: widgets.Col(style.Group)}
	p.detail = d
	var remove bool
	d.edit, remove = changeable(r)
	d.text = widgets.NewEntry()
	d.text.MultiLine = true
	d.text.TextStyle.Monospace, d.text.Wrapping = true, fyne.TextWrapBreak
	d.text.SetMinRowsVisible(12)
	d.text.OnChanged = func(text string) {
		d.command = ""
		d.set(json.RawMessage(text))
	}
	d.toggle = widgets.NewQuietButton("", "edit", d.switchEditor)
	d.preview = newPreview(d)
	rows := append(d.heading(), widgets.NewDraftLine(saved.IsRestored, func() {
		saved.Drop()
		p.open(r)
	}))
	if r.Origin == protocol.RuleFromConfig {
		rows = append(rows, widgets.NewParagraph("This rule is from All settings, Tool rules. Change it there.", style.ColorMuted, "text"))
	}
	rows = append(rows, d.editor, d.preview.box)
	back := widgets.NewQuietButton("All rules", "back", p.Leave)
	title := "Rule"
	if r.ID == "" {
		title = "New rule"
	}
	p.Show(widgets.Detail{Closed: func() { p.detail = nil }})
	p.Put(widgets.NewPage(title, widgets.NewInputForm(d.note, widgets.Flow(style.Inside, append(d.buttons(remove), d.toggle)...), rows...), back))
	d.showError("")
	d.showForm()
	d.preview.update()
	p.Box.Refresh()
}

func (d *detail) heading() []fyne.CanvasObject {
	r := d.rule
	if r.ID == "" {
		return nil
	}
	words, _ := wording.Reveal(r.Words)
	heading := widgets.NewParagraph(words, style.ColorText, "text")
	heading.SetStyle(fyne.TextStyle{Bold: true})
	about := originText(r)
	if r.CreatedAt != 0 {
		about += ", " + format.When(r.CreatedAt, d.p.now())
	}
	if use := useText(r, d.p.now()); use != "" {
		about += " · " + use
	}
	rows := []fyne.CanvasObject{widgets.Col(style.Gap, heading, widgets.NewParagraph(about, style.ColorMuted, style.SizeSmall))}
	if r.Problem != "" {
		rows = append(rows, widgets.WithIcon("text", 0, widget.NewIcon(style.IconIn("warning", style.ColorNeedsYou)),
			widgets.NewParagraph("Turned off: "+r.Problem, style.ColorNeedsYou, "text")))
	}
	return rows
}

func (d *detail) buttons(remove bool) []fyne.CanvasObject {
	if d.rule.Origin == protocol.RuleFromConfig {
		return []fyne.CanvasObject{widgets.NewButton("Open the configuration", "settings", func() { d.p.e.Open(host.Setting("toolApproval")) })}
	}
	var list []fyne.CanvasObject
	if d.edit {
		save := widgets.NewButton("Save", "check", d.save)
		save.Primary = true
		list = append(list, save, widgets.NewQuietButton("Cancel", "", func() {
			d.draft.Drop()
			d.p.Leave()
		}))
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

// showForm shows the form, or the JSON if the form cannot show the whole rule.
func (d *detail) showForm() {
	f, err := parseFields(d.policy)
	if err != nil || !d.edit {
		d.showText()
		return
	}
	d.form = newForm(d, f)
	d.toggle.SetText("Edit as JSON")
	widgets.SetContent(d.editor, d.form.rows...)
}

func (d *detail) showText() {
	d.form = nil
	d.toggle.SetText("Use the form")
	widgets.SetVisible(d.toggle, d.edit)
	onChanged := d.text.OnChanged
	d.text.OnChanged = nil
	d.text.SetText(indent(d.policy))
	d.text.OnChanged = onChanged
	if !d.edit {
		d.text.Disable()
	}
	widgets.SetContent(d.editor, widgets.NewField("Rule (JSON)", d.text))
}

func (d *detail) switchEditor() {
	if d.form != nil {
		d.showText()
		return
	}
	if _, err := parseFields(d.policy); err != nil {
		d.showError(format.Sentence(err.Error()))
		return
	}
	d.showError("")
	d.showForm()
}

func indent(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// set changes the policy and updates the preview.
func (d *detail) set(policy json.RawMessage) {
	d.policy = policy
	d.saveDraft()
	d.showError("")
	d.preview.update()
}

func (d *detail) saveDraft() { d.draft.Save(draft{string(d.policy), d.command}) }

func (d *detail) save() {
	if !json.Valid(d.policy) {
		d.showError("This is not valid JSON.")
		return
	}
	if text := d.missing(); text != "" {
		d.showError(text)
		return
	}
	params := protocol.RulePutParams{ID: d.rule.ID, Policy: d.policy}
	var rule protocol.Rule
	d.p.run(d.draft.Saving(func(ctx context.Context) (err error) {
		rule, err = feed.Call(ctx, d.p.gateway, protocol.RulePut, params)
		return err
	}), func(err error) {
		if err != nil {
			d.showError("The rule was not saved: " + err.Error())
			return
		}
		d.draft.Drop()
		if rule.Problem != "" {
			d.p.open(rule) // the error message is shown
		} else {
			d.p.ShowList()
		}
		d.p.Load()
	})
}

// missing says what the form still needs or what is wrong in it, or nothing.
func (d *detail) missing() string {
	if d.form == nil {
		return ""
	}
	return d.form.missing()
}

// showError shows an error; an empty text takes no space.
func (d *detail) showError(text string) {
	d.note.Set(text, style.ColorBad)
	if on := text != ""; on != d.note.Visible() {
		widgets.SetVisible(d.note, on)
		d.p.Box.Refresh()
	}
}

// preview shows the rule in words, earlier calls that it covers, and similar ones that it does not.
type preview struct {
	d       *detail
	box     *fyne.Container
	pending bool // a test is running
	again   bool // the rule has changed meanwhile
}

func newPreview(d *detail) *preview { return &preview{d: d, box: widgets.Col(style.Inside)} }

// maxPreview is the maximum number of covered calls that are listed.
const maxPreview = 5

// update tests the rule against earlier calls, one test at a time.
func (v *preview) update() {
	d := v.d
	if v.pending {
		v.again = true
		return
	}
	if !d.edit || !json.Valid(d.policy) || d.missing() != "" {
		widgets.SetContent(v.box)
		return
	}
	v.pending = true
	policy := d.policy
	var res protocol.RuleTryResult
	d.p.run(func(ctx context.Context) (err error) {
		res, err = feed.TryRule(ctx, d.p.gateway, policy)
		return err
	}, func(err error) {
		v.pending = false
		switch {
		case d.p.detail != d:
		case v.again:
			v.again = false
			v.update()
		case err != nil:
			widgets.SetContent(v.box, widgets.NewParagraph(feed.Sentence(err), style.ColorMuted, "text"))
		default:
			widgets.SetContent(v.box, v.rows(outcomeOf(d.p.view, res))...)
		}
		d.p.Box.Refresh()
	})
}

func (v *preview) rows(r Outcome) []fyne.CanvasObject {
	words, _ := wording.Reveal(r.Words)
	rows := []fyne.CanvasObject{
		widgets.NewSectionHeading("PREVIEW"), widgets.NewParagraph(words, style.ColorText, "text"), widgets.NewParagraph(r.Summary, style.ColorMuted, style.SizeSmall),
	}
	add := func(heading string, calls []string, more string) {
		if len(calls) == 0 {
			return
		}
		lines := []fyne.CanvasObject{widgets.NewText(heading, style.ColorMuted, style.SizeSmall)}
		for i, c := range calls {
			if i == maxPreview {
				lines = append(lines, widgets.NewText(format.Plural(len(calls)-i, more, more), style.ColorMuted, style.SizeSmall))
				break
			}
			lines = append(lines, widgets.NewCodeLine(c))
		}
		rows = append(rows, widgets.Col(style.Gap, lines...))
	}
	add("Earlier calls that it covers", r.Covers, "more")
	add("Similar calls that it does not cover", r.Spares, "more")
	return rows
}
