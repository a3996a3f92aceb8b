package inbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// ruleStep creates a rule from a question: it shows what the rule would allow.
type ruleStep struct {
	approval    protocol.Question
	scope       string
	now         func() time.Time
	try         func(policy json.RawMessage, done func(protocol.RuleTryResult, error))
	machineName func(id string) string
	onKey       func(fyne.KeyName) bool
	isShown     func() bool
	onChange    func() // called when the rule would allow something else, or shows it
	onResize    func() // called when the content has another size

	rules    []question.OfferedRule
	choices  []*ruleChoice
	selected []int           // places of the selected rules
	preview  *fyne.Container // what the selected rules would have allowed
	requests int             // number of the latest preview request

	until      int64 // expiry in Unix milliseconds; 0 is never
	expiry     *widgets.Button
	expiryText *widgets.Text
}

func newRuleStep(q protocol.Question, scope string, now func() time.Time, onKey func(fyne.KeyName) bool) *ruleStep {
	rules := question.OfferedRules(q, scope)
	r := &ruleStep{approval: q, scope: scope, now: now, onKey: onKey, rules: rules, selected: question.NarrowOffers(rules), preview: widgets.Col(style.Gap)}
	r.expiry = widgets.NewQuietButton("", "clock", func() { widgets.ShowMenu(r.expiry, r.expiryMenu()) })
	r.expiry.OnKey = onKey
	r.expiryText = widgets.NewText("", style.ColorMuted, "text")
	r.setExpiry(display.RuleEnds[0])
	return r
}

func (r *ruleStep) content() fyne.CanvasObject {
	rows := []fyne.CanvasObject{widgets.NewHeading("Don’t ask again for", "text")}
	for _, offer := range r.rules {
		text, _ := wording.Reveal(offer.Text)
		row := &ruleChoice{offer: offer, icon: widget.NewIcon(nil)}
		row.press = widgets.NewClickable(widgets.Inset(style.Gap, style.Gap, style.Gap, style.Gap,
			widgets.WithIcon("text", 0, row.icon, widgets.NewParagraph(text, style.ColorText, "text"))), func() { r.choose(offer.Place) })
		row.press.OnKey = func(k fyne.KeyName) bool { return !pressesButton(k) && r.onKey(k) }
		r.choices = append(r.choices, row)
		rows = append(rows, row.press)
	}
	r.showChoices()
	rows = append(rows, container.NewHBox(r.expiry, r.expiryText), r.preview,
		widgets.NewParagraph("You can change or delete the rule under Settings › Approvals and rules. Some things, such as sudo, are always asked.", style.ColorMuted, style.SizeSmall))
	return widgets.Col(style.Inside, rows...)
}

func (r *ruleStep) confirm() (text, waiting string) { return "Create rule and allow", "Allow" }

func (r *ruleStep) isReady() bool { return len(r.selected) > 0 }

func (r *ruleStep) complete(to *protocol.QuestionAnswerParams) error {
	to.Scope, to.Offers, to.Until = r.scope, r.selected, r.until
	return nil
}

// ruleChoice is a rule that can be selected instead of, or together with, others.
type ruleChoice struct {
	offer question.OfferedRule
	icon  *widget.Icon
	press *widgets.Clickable
}

func (r *ruleStep) choose(place int) {
	r.selected = question.ChooseOffer(r.rules, r.selected, place)
	r.showChoices()
	r.updatePreview()
}

func (r *ruleStep) showChoices() {
	for _, c := range r.choices {
		on := slices.Contains(r.selected, c.offer.Place)
		widgets.SetIcon(c.icon, widgets.Choose(on, "online", "offline"), widgets.Choose(on, style.ColorAccent, style.ColorMuted))
	}
}

// allowsMore reports whether a selected rule allows more than was shown.
func (r *ruleStep) allowsMore() bool {
	return slices.ContainsFunc(r.rules, func(o question.OfferedRule) bool { return o.Wide && slices.Contains(r.selected, o.Place) })
}

func (r *ruleStep) expiryMenu() (items []*fyne.MenuItem) {
	for _, e := range display.RuleEnds {
		items = append(items, fyne.NewMenuItem(expiryName(e), func() {
			r.setExpiry(e)
			r.onChange()
		}))
	}
	return items
}

func expiryName(e display.RuleEnd) string {
	switch e.Key {
	case "never":
		return "No expiry"
	case "today":
		return "Until the end of today"
	}
	return "For " + e.Words
}

func (r *ruleStep) setExpiry(e display.RuleEnd) {
	r.until = e.At(r.now())
	r.expiry.SetText(expiryName(e))
	text := ""
	if r.until > 0 {
		text = "expires on " + time.UnixMilli(r.until).Format("2 January 2006 15:04")
	}
	r.expiryText.SetText(text)
}

// showPreview replaces the preview. Since the displayed text changes, Allow is armed again.
func (r *ruleStep) showPreview(rows ...fyne.CanvasObject) {
	widgets.SetContent(r.preview, rows...)
	r.onResize()
	r.onChange()
}

// updatePreview finds the earlier calls that the selected rules would also have allowed.
func (r *ruleStep) updatePreview() {
	r.requests++
	request, pending := r.requests, len(r.selected)
	r.showPreview(widgets.NewText("Checking earlier calls…", style.ColorMuted, "text"))
	seen, checked := make(map[protocol.CallID]bool), 0
	var calls []protocol.RuleChange
	for _, rule := range r.rules {
		if !slices.Contains(r.selected, rule.Place) {
			continue
		}
		r.try(rule.Policy, func(res protocol.RuleTryResult, err error) {
			if request != r.requests || !r.isShown() {
				return
			}
			if err != nil {
				r.showPreview(warning("Earlier calls could not be checked: " + err.Error()))
				r.requests++ // late responses would hide this
				return
			}
			for _, c := range res.Changed {
				if !seen[c.Call.CallID] && c.Call.ApprovalID != r.approval.ID {
					seen[c.Call.CallID] = true
					calls = append(calls, c)
				}
			}
			checked = max(checked, res.Looked)
			if pending--; pending == 0 {
				r.showPreview(r.previewRows(calls, checked)...)
			}
		})
	}
}

// maxPreview is the maximum number of earlier calls listed.
const maxPreview = 8

func (r *ruleStep) previewRows(calls []protocol.RuleChange, checked int) []fyne.CanvasObject {
	switch {
	case checked == 0:
		return []fyne.CanvasObject{widgets.NewParagraph(question.NoCallsText, style.ColorMuted, "text")}
	case len(calls) == 0:
		return []fyne.CanvasObject{widgets.NewParagraph(question.NothingElseText(checked, r.allowsMore()), style.ColorMuted, "text")}
	}
	rows := []fyne.CanvasObject{widgets.NewParagraph(question.CheckedText(checked)+": it also allows:", style.ColorText, "text")}
	lines := r.callLines(calls)
	for i, line := range lines {
		if i == maxPreview {
			rows = append(rows, widgets.NewText(fmt.Sprintf("and %d more", len(lines)-i), style.ColorMuted, style.SizeSmall))
			break
		}
		rows = append(rows, widgets.NewCodeLine(line))
	}
	return rows
}

// callLines describes calls, with those of the same text in one line.
func (r *ruleStep) callLines(calls []protocol.RuleChange) (lines []string) {
	times := make(map[string]int)
	for _, c := range calls {
		line, _ := wording.Reveal(question.CallLine(c.Call, r.machineName(string(c.Call.Node))))
		if times[line]++; times[line] == 1 {
			lines = append(lines, line)
		}
	}
	for i, line := range lines {
		if n := times[line]; n > 1 {
			lines[i] = fmt.Sprintf("%s, %d times", line, n)
		}
	}
	return lines
}
