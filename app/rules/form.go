package rules

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
)

// form edits a rule without JSON.
type form struct {
	d    *detail
	rule Fields
	rows []fyne.CanvasObject

	verdict, expires, tool, machine, chat *widgets.Button
	command, path, folder                 *widgets.Entry
	below                                 *widgets.CheckBox
	words                                 *fyne.Container // a button for each word of the command
	subject                               *fyne.Container // the command, or the files
}

type verdict struct{ value, words string }

var verdicts = []verdict{{"allow", "Allow"}, {"ask", "Ask"}, {"deny", "Deny"}}

func newForm(d *detail, rule Fields) *form {
	rule.Below = rule.Below || rule.Folder == ""
	f := &form{d: d, rule: rule, words: widgets.Flow(style.Gap), subject: widgets.Col(style.Inside)}
	f.verdict, f.expires = widgets.NewMenuButton("", "", f.verdictMenu), widgets.NewMenuButton("", "", f.expiresMenu)
	f.tool, f.machine = widgets.NewMenuButton("", "", f.toolMenu), widgets.NewMenuButton("", "", f.machineMenu)
	f.chat = widgets.NewMenuButton("", "", f.chatMenu)
	f.command = entry("git push origin main", cmp.Or(d.command, rule.Command()), f.setCommand)
	f.path = entry("docs/**", rule.Path, func(s string) { f.change(func(r *Fields) { r.Path = s }) })
	f.folder = entry("Any folder", rule.Folder, func(s string) { f.change(func(r *Fields) { r.Folder = s }) })
	f.below = widgets.NewCheckBox("Include its subfolders", nil)
	f.below.SetChecked(rule.Below)
	f.below.OnChanged = func(on bool) { f.change(func(r *Fields) { r.Below = on }) }
	f.rows = []fyne.CanvasObject{
		widgets.Flow(style.Group, widgets.NewField("Decision", f.verdict), widgets.NewField("What", f.tool), widgets.NewField("Machine", f.machine),
			widgets.NewField("Chat", f.chat), widgets.NewField("Expires", f.expires)),
		f.subject,
		widgets.NewField("Working folder", f.folder, f.below),
	}
	f.draw()
	return f
}

func entry(hint, text string, changed func(string)) *widgets.Entry {
	e := widgets.NewEntry()
	e.SetPlaceHolder(hint)
	e.SetText(text)
	e.OnChanged = changed
	return e
}

// change changes the rule and shows it.
func (f *form) change(edit func(*Fields)) {
	edit(&f.rule)
	f.draw()
	policy, err := f.rule.Apply(f.d.policy)
	if err != nil {
		f.d.showError(format.Sentence(err.Error()))
		return
	}
	f.d.set(policy)
}

func (f *form) draw() {
	r := f.rule
	f.verdict.SetText("Ask")
	for _, v := range verdicts {
		if v.value == r.Verdict {
			f.verdict.SetText(v.words)
		}
	}
	f.expires.SetText("No expiry")
	if !r.Expires.IsZero() {
		f.expires.SetText(r.Expires.Local().Format("2 Jan 2006 15:04"))
	}
	f.tool.SetText(toolText(r.Tool))
	f.machine.SetText("All machines")
	if r.Node != "" {
		name, _ := wording.Reveal(f.d.p.view.Machines.Name(r.Node))
		f.machine.SetText(name)
	}
	f.chat.SetText("All chats")
	if r.Session != "" {
		name, _ := wording.Reveal(f.d.p.view.ChatName(r.Session))
		f.chat.SetText(name)
	}
	f.drawSubject()
}

func (f *form) drawSubject() {
	rows := []fyne.CanvasObject{widgets.NewField("Files", f.path,
		widgets.NewParagraph("Paths are in the workspace, unless they begin with / (anywhere on the disk), ~/ (the home folder) or !/ (outside the workspace). * is any name, ** also everything below. Empty: all files.", style.ColorMuted, style.SizeSmall))}
	if f.rule.IsCommand() {
		f.drawWords()
		rows = []fyne.CanvasObject{widgets.NewField("Command", f.command)}
		if len(f.words.Objects) > 0 {
			rows = []fyne.CanvasObject{widgets.NewField("Command", f.command, f.words,
				widgets.NewParagraph("Choose a word to accept any value in its place.", style.ColorMuted, style.SizeSmall))}
		}
	}
	widgets.SetContent(f.subject, rows...)
	f.d.p.Box.Refresh()
}

// drawWords shows a button for each word and one for what may follow.
func (f *form) drawWords() {
	var buttons []fyne.CanvasObject
	for i, w := range f.rule.Words {
		label, _ := wording.Reveal(w.Label())
		buttons = append(buttons, widgets.NewMenuButton(label, "", func() []*fyne.MenuItem { return f.wordMenu(i) }))
	}
	after := "nothing after it"
	if f.rule.Further {
		after = "anything after it"
	}
	if len(buttons) > 0 || f.rule.Further {
		more := widgets.NewMenuButton(after, "", f.furtherMenu)
		more.Quiet = true
		buttons = append(buttons, more)
	}
	widgets.SetContent(f.words, buttons...)
}

// missing says what the form still needs, or that the typed text is not a command: then the rule has
// the words of an earlier text.
func (f *form) missing() string {
	r := f.rule
	r.Words = slices.Clone(r.Words)
	if r.IsCommand() {
		if err := r.SetCommand(f.command.Text); err != nil {
			return format.Sentence(err.Error())
		}
	}
	return r.Missing()
}

func (f *form) setCommand(text string) {
	f.d.command = text
	f.d.saveDraft()
	r := f.rule
	r.Words = slices.Clone(r.Words)
	if err := r.SetCommand(text); err != nil {
		f.d.showError(format.Sentence(err.Error()))
		f.d.preview.update()
		return
	}
	f.change(func(old *Fields) { *old = r })
}

func (f *form) wordMenu(i int) []*fyne.MenuItem {
	set := func(on bool) func() {
		return func() {
			f.change(func(r *Fields) {
				r.Words = slices.Clone(r.Words)
				r.Words[i].Any = on
			})
		}
	}
	items := []*fyne.MenuItem{fyne.NewMenuItem("Any value", set(true))}
	if text, _ := wording.Reveal(f.rule.Words[i].Text); text != "" {
		items = append([]*fyne.MenuItem{fyne.NewMenuItem(fmt.Sprintf("Exactly “%s”", text), set(false))}, items...)
	}
	return items
}

func (f *form) furtherMenu() []*fyne.MenuItem {
	set := func(on bool) func() { return func() { f.change(func(r *Fields) { r.Further = on }) } }
	return []*fyne.MenuItem{fyne.NewMenuItem("Nothing after it", set(false)), fyne.NewMenuItem("Anything after it", set(true))}
}

func (f *form) verdictMenu() []*fyne.MenuItem {
	return lists.Map(verdicts, func(v verdict) *fyne.MenuItem {
		return fyne.NewMenuItem(v.words, func() { f.change(func(r *Fields) { r.Verdict = v.value }) })
	})
}

func (f *form) expiresMenu() []*fyne.MenuItem {
	return lists.Map(expiries, func(e expiry) *fyne.MenuItem {
		return fyne.NewMenuItem(e.words, func() { f.change(func(r *Fields) { r.Expires = e.end(f.d.p.now()) }) })
	})
}

func (f *form) toolMenu() (items []*fyne.MenuItem) {
	for _, t := range toolChoices {
		items = append(items, fyne.NewMenuItem(t.Words, func() { f.change(func(r *Fields) { r.Tool = t.Name }) }))
	}
	return items
}

func (f *form) machineMenu() []*fyne.MenuItem {
	items := []*fyne.MenuItem{fyne.NewMenuItem("All machines", func() { f.change(func(r *Fields) { r.Node = "" }) })}
	for _, n := range f.d.p.view.Machines {
		name, _ := wording.Reveal(n.DisplayName())
		items = append(items, fyne.NewMenuItem(name, func() { f.change(func(r *Fields) { r.Node = n.ID }) }))
	}
	return items
}

// maxChats is the maximum number of chats in the menu, the most recent ones.
const maxChats = 20

func (f *form) chatMenu() []*fyne.MenuItem {
	items := []*fyne.MenuItem{fyne.NewMenuItem("All chats", func() { f.change(func(r *Fields) { r.Session = "" }) })}
	list := f.d.p.view.Sessions.List
	for _, s := range list[:min(len(list), maxChats)] {
		title, _ := wording.Reveal(feed.TitleOf(s))
		items = append(items, fyne.NewMenuItem(title, func() { f.change(func(r *Fields) { r.Session = s.SessionKey }) }))
	}
	return items
}

// expiry is a possible validity period of a rule; 0 is unlimited.
type expiry struct {
	words string
	d     time.Duration
}

const day = 24 * time.Hour

var expiries = []expiry{{"No expiry", 0}, {"In an hour", time.Hour}, {"Tomorrow", day}, {"In a week", 7 * day}, {"In 30 days", 30 * day}}

// end returns the time at which a rule made now expires; zero is never.
func (e expiry) end(now time.Time) time.Time {
	if e.d == 0 {
		return time.Time{}
	}
	return now.Add(e.d)
}
