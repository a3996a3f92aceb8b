package inbox

import (
	"fyne.io/fyne/v2"

	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// step is shown instead of the question; its confirm button allows.
type step interface {
	content() fyne.CanvasObject
	// confirm returns the text of the button, and the word that it shows while the person must wait.
	confirm() (text, waiting string)
	isReady() bool
	// complete adds to the answer what the person chose.
	complete(r *protocol.QuestionAnswerParams) error
}

// editStep lets the person edit a call before it runs.
type editStep struct {
	approval protocol.Question
	name     string // of the argument
	original string
	entry    *textEntry
}

// newEditStep returns nil for a call that cannot be edited.
func newEditStep(q protocol.Question, onKey func(fyne.KeyName) bool, onType func()) *editStep {
	name, text, ok := question.Editable(q)
	if !ok {
		return nil
	}
	e := newTextEntry(onKey, onType)
	e.MultiLine, e.Wrapping = true, fyne.TextWrapBreak
	e.TextStyle.Monospace = true
	e.SetMinRowsVisible(10)
	e.SetText(text)
	return &editStep{approval: q, name: name, original: text, entry: e}
}

func (s *editStep) content() fyne.CanvasObject {
	rows := []fyne.CanvasObject{widgets.NewText(s.name, style.ColorMuted, style.SizeSmall), s.entry}
	if revealed, _ := wording.Reveal(s.original); revealed != s.original {
		rows = append(rows, warning("It contains invisible characters. Check them before you continue: "+revealed))
	}
	rows = append(rows, widgets.NewParagraph("Your version is checked again and runs once. The agent sees what you changed.", style.ColorMuted, style.SizeSmall))
	return widgets.Col(style.Inside, rows...)
}

func (s *editStep) confirm() (text, waiting string) { return "Run this", "Run" }

func (s *editStep) isReady() bool { return true }

func (s *editStep) complete(r *protocol.QuestionAnswerParams) (err error) {
	r.Args, err = question.WithEdited(s.approval, s.entry.Text)
	return err
}
