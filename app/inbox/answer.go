package inbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/question"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Deny denies the current question, with the reason if one was typed.
func (d *Dialog) Deny() {
	if d.view.Status.IsLost() {
		return
	}
	d.give(protocol.QuestionAnswerParams{Decision: protocol.DecisionDeny, Reason: strings.TrimSpace(d.frame.reason.Text)})
}

// allow allows the question with what the person chose.
func (d *Dialog) allow(scope string) {
	args, ok := d.options.args()
	if d.step != nil || !d.isArmed() || !d.subject.canAllow() || !ok || args != nil && scope != protocol.ScopeOnce {
		return
	}
	p, ok := d.subject.answer(true)
	if !ok {
		d.choicesChanged()
		return
	}
	p.Scope, p.Args, p.Access = scope, args, d.options.folderAccess()
	d.give(p)
}

// give sends an answer, also for included questions. It ignores an allow that is not armed.
func (d *Dialog) give(p protocol.QuestionAnswerParams) {
	if d.Current().ID == "" || p.Decision == protocol.DecisionAllow && !d.isArmed() {
		return
	}
	all := d.queue.includedQuestions(d.options.includesIdentical())
	d.queue.remove(all...)
	d.answerer.Answer(all, p)
	d.arming.revision++
	d.showNext()
}

func (d *Dialog) snooze() {
	q := d.Current()
	if q.ID == "" {
		return
	}
	d.queue.remove(q)
	d.arming.Hide()
	d.answerer.Snooze(q)
	d.showNext()
}

// showNext shows the question after one that was removed.
func (d *Dialog) showNext() {
	d.arming.Hide()
	if n := len(d.queue.list); n > 0 {
		d.show(min(d.queue.index, n-1))
	}
}

// scopeMenu offers the scopes of Allow beyond once. Those that create a rule show it first.
func (d *Dialog) scopeMenu() []*fyne.MenuItem {
	q := d.Current()
	var items []*fyne.MenuItem
	for _, scope := range q.Choices {
		act := func() { d.allow(scope) }
		switch {
		case scope != protocol.ScopeOnce && scope != protocol.ScopeSession:
			act = func() { d.startRule(scope) }
		case d.keys.openedMenu: // a single key never allows
			act = func() {
				d.options.scope = scope // shown; Ctrl+Shift+Enter then allows
				d.nameButtons()
				d.frame.setNotice(question.ScopeWords(q, scope) + ". Press " + allowKeys() + " to allow.")
				d.effectChanged()
			}
		}
		items = append(items, fyne.NewMenuItem(question.ScopeWords(q, scope), act))
	}
	return items
}

// choicesChanged follows a choice of the person, or another height of the content: what Allow does
// is named, and must be seen again if it is about a call.
func (d *Dialog) choicesChanged() {
	d.frame.body.Refresh()
	d.frame.fit()
	if d.subject.options == nil {
		d.Tick(d.arming.now())
		return
	}
	args, ok := d.options.args()
	if args != nil || !ok {
		d.options.scope = protocol.ScopeOnce // a changed call is allowed once only
	}
	d.nameButtons()
	widgets.SetVisible(d.frame.allow.More, args == nil && ok && len(d.Current().Choices) > 1)
	d.effectChanged()
}

// effectChanged starts arming again after a change of what Allow would do.
func (d *Dialog) effectChanged() {
	d.arming.revision++
	d.rearm()
}

func (d *Dialog) nameButtons() {
	allow, deny := d.subject.allowText(), cmp.Or(d.subject.deny, "Deny")
	if d.subject.options != nil {
		allow, deny = d.options.buttonTexts(len(d.queue.includedQuestions(d.options.includesIdentical())))
	}
	if !d.subject.canAllow() && d.subject.options != nil {
		allow = "Select a change to allow"
	}
	d.allowText, d.frame.allow.Main.Widest = allow, longer(allow, d.subject.allowText()+" in 2 s")
	d.frame.deny.SetText(deny)
	d.frame.denyForReason.SetText(deny)
	d.frame.denyWithReason.SetText(deny + " with reason…")
}

func longer(a, b string) string { return widgets.Choose(len(a) > len(b), a, b) }

// enterStep shows a step's content with its own buttons.
func (d *Dialog) enterStep(s step, focus fyne.Focusable) {
	d.step = s
	d.frame.setContent(s.content())
	confirm, _ := s.confirm()
	d.frame.confirm.Widest = longer(confirm, "Allow in 2 s")
	d.frame.questionRow.Hide()
	d.frame.stepRow.Show()
	d.effectChanged()
	d.canvas.Focus(focus)
	d.frame.fit()
}

// finishStep completes a step with its allow.
func (d *Dialog) finishStep() {
	if d.step == nil || !d.step.isReady() {
		return
	}
	r := protocol.QuestionAnswerParams{Decision: protocol.DecisionAllow, Scope: protocol.ScopeOnce, Access: d.options.folderAccess()}
	if err := d.step.complete(&r); err != nil {
		d.frame.setNotice("This cannot run: " + err.Error())
		return
	}
	d.give(r)
}

// startRule shows what a rule with this scope would allow, before it is created.
func (d *Dialog) startRule(scope string) {
	r := newRuleStep(d.Current(), scope, d.arming.now, d.keys.handle)
	r.try, r.machineName, r.onChange = d.try, d.env.Machines.Name, d.effectChanged
	r.isShown = func() bool { return d.step == step(r) }
	r.onResize = func() {
		d.frame.body.Refresh()
		d.frame.fit()
	}
	d.enterStep(r, d.frame.back)
	r.updatePreview()
}

// queue is the list of pending questions, of which one is shown.
type queue struct {
	list  []protocol.Question
	index int // of the shown question
}

// current returns the question that is shown, or the zero value.
func (q *queue) current() protocol.Question {
	if q.index < len(q.list) {
		return q.list[q.index]
	}
	return protocol.Question{}
}

// indexOf returns the index of a question; -1 if it is not pending.
func (q *queue) indexOf(id protocol.QuestionID) int {
	return slices.IndexFunc(q.list, func(a protocol.Question) bool { return a.ID == id })
}

// remove removes questions that were answered or snoozed here.
func (q *queue) remove(answered ...protocol.Question) {
	q.list = slices.DeleteFunc(slices.Clone(q.list), func(a protocol.Question) bool {
		return slices.ContainsFunc(answered, func(b protocol.Question) bool { return a.ID == b.ID })
	})
}

// identical returns the questions that ask exactly what the current one asks, including itself.
func (q *queue) identical() []protocol.Question { return question.Identical(q.list, q.current()) }

// position formats the place of the current question among several, such as "1 of 2".
func (q *queue) position() string {
	if len(q.list) < 2 {
		return ""
	}
	return fmt.Sprintf("%d of %d", q.index+1, len(q.list))
}

// includedQuestions returns the questions that an answer applies to.
func (q *queue) includedQuestions(withIdentical bool) []protocol.Question {
	if withIdentical {
		return q.identical()
	}
	return []protocol.Question{q.current()}
}
