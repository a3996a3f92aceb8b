package inbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// options are the person's choices about what Allow does for one question.
type options struct {
	facts
	approval   protocol.Question
	scope      string    // the menu beside Allow offers more than once
	hunks      []bool    // hunks to allow; nil if the change is all or nothing
	changeText *wrapText // the numbers of changed lines
	network    *keyCheck
	folders    map[int]*keyCheck // by the index of the folder that the call needs
	placed     map[int]bool      // the folders that are shown
	identical  *keyCheck         // include the identical questions
	isEdited   bool              // the call is edited: the answer is for this one only
	others     int               // number of other identical questions
	onKey      func(fyne.KeyName) bool
	onChange   func()
}

func newOptions(q protocol.Question, v *callView) *options {
	return &options{
		facts: v.facts, approval: q, scope: protocol.ScopeOnce, folders: make(map[int]*keyCheck), placed: make(map[int]bool),
		onKey: v.onKey, onChange: v.onChange,
	}
}

func (o *options) hunkCheck(count int) fyne.CanvasObject {
	i := len(o.hunks)
	o.hunks = append(o.hunks, true)
	return newCheck(fmt.Sprintf("Change %d of %d", i+1, count), true, o.onKey, func(on bool) {
		o.hunks[i] = on
		o.changeText.setText(question.ChangeText(o.approval, o.hunks))
		o.onChange()
	})
}

// rows returns the check boxes below a question, without those that stand beside a part.
func (o *options) rows() []fyne.CanvasObject {
	rows := o.networkRows()
	for i := range question.FolderOffers(o.approval) {
		rows = append(rows, o.folderRows(i)...)
	}
	o.identical = newCheck("", false, o.onKey, func(bool) { o.onChange() })
	o.showIdentical()
	return append(rows, o.identical)
}

// networkRows offers network access, once.
func (o *options) networkRows() []fyne.CanvasObject {
	asks, offer := question.AsksNetwork(o.approval)
	if !offer || o.network != nil {
		return nil
	}
	text := "Allow network access for this command"
	if asks {
		text = "Allow network access, which this command requests"
	}
	o.network = newCheck(text, asks, o.onKey, func(bool) { o.onChange() })
	return []fyne.CanvasObject{o.network}
}

// folderRows offers access to some of the offered folders for this one call, each once, or says
// that allowing opens them.
func (o *options) folderRows(places ...int) []fyne.CanvasObject {
	var rows []fyne.CanvasObject
	offers := question.FolderOffers(o.approval)
	for _, i := range places {
		if i < 0 || i >= len(offers) || o.placed[i] {
			continue
		}
		o.placed[i] = true
		f := offers[i]
		path, _ := wording.Reveal(f.Path)
		switch {
		case question.GrantsFolder(o.approval) && f.Write:
			rows = append(rows, o.fact("access", path+" (write, for this call only)"))
		case question.GrantsFolder(o.approval):
			rows = append(rows, o.fact("access", path+" (read, for this call only)"))
		default:
			access := widgets.Choose(f.Write, "writing to ", "reading ")
			check, row := newLongCheck("Allow "+access+path+" (this time only)", false, o.onKey, func(bool) { o.onChange() })
			o.folders[i] = check
			rows = append(rows, row)
		}
		if last := len(rows) - 1; f.Warning != "" {
			rows[last] = widgets.Col(0, rows[last], widgets.Inset(0, 0, style.Inside, style.Group+style.Inside, warning("Warning about "+path+": "+f.Warning+".")))
		}
	}
	return rows
}

func (o *options) showIdentical() {
	text := "Apply to the identical approval, too"
	if o.others > 1 {
		text = fmt.Sprintf("Apply to the %d identical approvals, too", o.others)
	}
	o.identical.SetText(text)
	widgets.SetVisible(o.identical, o.others > 0)
}

// setOthers updates the number of other identical questions while this one is shown. It reports
// whether the extent of an answer changed with it, or the offer appeared or disappeared.
func (o *options) setOthers(n int) (changed bool) {
	if o.identical == nil || n == o.others {
		return false
	}
	changed = o.identical.Checked || o.others == 0 || n == 0
	o.others = n
	o.showIdentical()
	if n == 0 {
		o.identical.Checked = false
		o.identical.Refresh()
	}
	return changed
}

func (o *options) includesIdentical() bool {
	return !o.isEdited && o.identical != nil && o.identical.Checked
}

func (o *options) folderAccess() (list []int) {
	for i := range question.FolderOffers(o.approval) {
		if c := o.folders[i]; c != nil && c.Checked {
			list = append(list, i)
		}
	}
	return list
}

// args returns the changed arguments, or nil. ok is false if nothing of the call would be left.
func (o *options) args() (args json.RawMessage, ok bool) {
	var err error
	if slices.Contains(o.hunks, false) {
		if !slices.Contains(o.hunks, true) {
			return nil, false
		}
		if args, err = question.PickHunks(o.approval, o.hunks); err != nil {
			return nil, false
		}
	}
	if asks, _ := question.AsksNetwork(o.approval); o.network != nil && o.network.Checked != asks {
		if args, err = question.WithNetwork(o.approval.Args, o.network.Checked); err != nil {
			return nil, false
		}
	}
	return args, true
}

// hasOwnVerb reports whether a question about a call has other answers than Allow and Deny.
func hasOwnVerb(q protocol.Question) bool {
	return display.IsKeep(q) || q.Kind == protocol.AskContinue
}

// buttonTexts returns the texts of Allow and Deny, which name what they apply to.
func (o *options) buttonTexts(approvals int) (allow, deny string) {
	if hasOwnVerb(o.approval) && approvals == 1 {
		return display.AnswerWords(o.approval)
	}
	allow, deny = "Allow", "Deny"
	if approvals > 1 {
		allow, deny = fmt.Sprintf("Allow all %d", approvals), fmt.Sprintf("Deny all %d", approvals)
	}
	allow += widgets.Choose(o.scope == protocol.ScopeSession, " in this chat", " once")
	var grants []string
	if asks, _ := question.AsksNetwork(o.approval); o.network != nil && o.network.Checked && !asks {
		grants = append(grants, "network")
	}
	switch n := len(o.folderAccess()); {
	case n == 1:
		grants = append(grants, "folder access")
	case n > 1:
		grants = append(grants, fmt.Sprintf("access to %d folders", n))
	}
	if grants != nil {
		allow += " with " + strings.Join(grants, " and ")
	}
	allowed := 0
	for _, on := range o.hunks {
		if on {
			allowed++
		}
	}
	if allowed < len(o.hunks) {
		allow = fmt.Sprintf("Allow %d of %d changes", allowed, len(o.hunks))
	}
	return allow, deny
}
