package inbox

import (
	"fyne.io/fyne/v2"

	"fairlead/app/host"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// input shows what a server wants to know: a form, or whether to open an address.
func input(q protocol.Question, at place) subject {
	in := *q.Input
	message, _ := wording.Reveal(in.Message)
	s := subject{allow: "Send", deny: "Decline", rows: []fyne.CanvasObject{
		widgets.NewParagraph(question.InputSource(at.view, q), style.ColorMuted, style.SizeSmall),
		widgets.NewParagraph(message, style.ColorText, "text"),
	}}
	if in.URL != "" {
		s.openAddress(in.URL, at)
		return s
	}
	var fields []*field
	for _, f := range in.Fields {
		one := newField(f, at.onChange)
		fields = append(fields, one)
		s.rows = append(s.rows, one.box)
	}
	s.rows = append(s.rows, widgets.NewParagraph("Your answer goes to the server. Enter no passwords or keys: a server must not ask for them.", style.ColorMuted, style.SizeSmall))
	s.complete = func(p *protocol.QuestionAnswerParams) (ok bool) {
		p.Values, ok = readFields(fields)
		return ok
	}
	return s
}

// openAddress makes a subject the question whether to open an address.
func (s *subject) openAddress(address string, at place) {
	name := widgets.NewParagraph(question.HostOf(address), style.ColorText, style.SizeTitle)
	name.SetStyle(fyne.TextStyle{Bold: true})
	s.allow = "Open in browser"
	s.rows = append(s.rows, widgets.NewField("Host", name), widgets.NewField("Full address", widgets.NewSelectableText(address)),
		widgets.NewParagraph("Open it only if you trust this host. What you enter there goes to that page, not to Fairlead.", style.ColorMuted, style.SizeSmall))
	s.complete = func(*protocol.QuestionAnswerParams) bool {
		at.Open(host.URL(address))
		return true
	}
}

// readFields reads the form. If a value is invalid, it says so at the field and focuses the first.
func readFields(fields []*field) (values map[string]any, ok bool) {
	values, ok = make(map[string]any), true
	for _, f := range fields {
		value, problem := display.FieldValue(f.in, f.entered())
		f.say(problem)
		switch {
		case problem != "":
			if ok {
				widgets.FocusIn(f.box, f.focus)
			}
			ok = false
		case value != nil:
			values[f.in.Name] = value
		}
	}
	return values, ok
}

// field is one field of a form with its label, description and problem.
type field struct {
	in      protocol.Field
	box     *fyne.Container
	problem *widgets.Paragraph
	entered func() any // as display.FieldValue reads it
	focus   fyne.Focusable
}

// newField creates a field. resize is called when its height changes.
func newField(in protocol.Field, resize func()) *field {
	f := &field{in: in, problem: widgets.NewParagraph("", style.ColorBad, style.SizeSmall)}
	f.problem.Hide()
	title, _ := wording.Reveal(display.FieldTitle(in))
	changed := func() {
		if f.problem.Visible() {
			f.say("")
			resize()
		}
	}
	var control fyne.CanvasObject
	switch in.Kind {
	case "boolean":
		check := widgets.NewCheck(title, func(bool) { changed() })
		check.Set(in.Default == true)
		f.entered, f.focus, control, title = func() any { return check.Box.Checked }, check.Box, check, ""
	case "choice":
		control = f.choice(changed)
	case "choices":
		control = f.choices(changed)
	default:
		entry := widgets.NewEntry()
		entry.SetText(display.TypedDefault(in))
		entry.SetPlaceHolder(display.FieldHint(in))
		entry.OnChanged = func(string) { changed() }
		f.entered, f.focus, control = func() any { return entry.Text }, entry, entry
	}
	f.box = widgets.Col(style.Gap)
	if title != "" {
		widgets.NameControls(title, control)
		f.box.Add(widgets.NewParagraph(title, style.ColorText, style.SizeSmall))
	}
	f.box.Add(control)
	if in.Description != "" {
		text, _ := wording.Reveal(in.Description)
		f.box.Add(widgets.NewParagraph(text, style.ColorMuted, style.SizeSmall))
	}
	f.box.Add(f.problem)
	return f
}

// choice chooses one of the values. A field that may be left out has a line for that.
func (f *field) choice(changed func()) fyne.CanvasObject {
	titles, skip := question.ChoiceTitles(f.in), 0
	if !f.in.Required {
		titles, skip = append([]string{question.NoAnswer}, titles...), 1
	}
	menu := widgets.NewSelect(titles, nil)
	menu.PlaceHolder = "Choose one"
	for i, c := range f.in.Choices {
		if question.IsDefault(f.in, c) {
			menu.SetSelectedIndex(i + skip)
		}
	}
	menu.OnChanged = func(string) { changed() }
	f.focus = menu
	f.entered = func() any {
		if i := menu.SelectedIndex() - skip; i >= 0 {
			return f.in.Choices[i].Value
		}
		return ""
	}
	return menu
}

// choices chooses some of the values.
func (f *field) choices(changed func()) fyne.CanvasObject {
	box := widgets.Col(0)
	var checks []*widgets.Check
	for i, title := range question.ChoiceTitles(f.in) {
		check := widgets.NewCheck(title, func(bool) { changed() })
		check.Set(question.IsDefault(f.in, f.in.Choices[i]))
		checks = append(checks, check)
		box.Add(check)
	}
	f.focus = checks[0].Box
	f.entered = func() any {
		list := []string{}
		for i, check := range checks {
			if check.Box.Checked {
				list = append(list, f.in.Choices[i].Value)
			}
		}
		return list
	}
	return box
}

func (f *field) say(problem string) {
	f.problem.Set(problem, style.ColorBad)
	widgets.SetVisible(f.problem, problem != "")
}
