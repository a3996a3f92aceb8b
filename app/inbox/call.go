package inbox

import (
	"path"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/diff"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// call shows a tool call, or a run that asks whether to continue.
func call(q protocol.Question, at place) subject {
	v := &callView{place: at, facts: facts{new(widgets.Labels)}}
	o := newOptions(q, v)
	verb := ""
	if hasOwnVerb(q) {
		verb, _ = display.AnswerWords(q)
	}
	return subject{
		rows: v.rows(q, o), options: o, allow: verb,
		isReady: func() bool {
			_, ok := o.args()
			return ok
		},
	}
}

// callView creates the content for a question about a call.
type callView struct {
	place
	facts
}

// rows has everything the person must see, in order of importance.
func (v *callView) rows(q protocol.Question, o *options) (rows []fyne.CanvasObject) {
	if q.Node != "" && q.Node != protocol.NativePrefix { // the gateway's own tools name their machine
		rows = append(rows, v.machine(q))
	}
	rows = append(rows, v.serverTool(q.ServerTool)...)
	rows = append(rows, v.fact("asked by", question.Asker(v.view, q.AskedBy, q.SessionKey)))
	if q.IsCall() {
		rows = append(rows, v.call(q, o)...)
	}
	rows = append(rows, v.previewRows(q.Preview)...)
	if display.IsKeep(q) {
		rows = append(rows, v.fact("now", display.KeepNow))
	} else {
		rows = append(rows, v.sandboxRows(q)...)
		rows = append(rows, v.fact("reason", format.Capital(display.Why(q))))
	}
	return append(rows, o.rows()...)
}

// serverTool shows what an MCP server says about its tool.
func (f facts) serverTool(t *protocol.QuestionTool) (rows []fyne.CanvasObject) {
	if t == nil {
		return nil
	}
	name := t.Name
	if t.Title != "" && t.Title != t.Name {
		name += " – " + t.Title
	}
	rows = append(rows, f.fact("tool", name))
	if text := strings.TrimSpace(t.Description); text != "" {
		rows = append(rows, f.fact("it says", text))
	}
	return rows
}

// facts are lines with labels in one column.
type facts struct{ labels *widgets.Labels }

func (f facts) fact(label, text string) fyne.CanvasObject {
	text, _ = wording.Reveal(text)
	return f.labels.Row(label, newWrapText("text", false, span{text: text, color: style.ColorText}))
}

// previewRows shows where the call works, and warnings about that.
func (f facts) previewRows(p *protocol.CallPreview) (rows []fyne.CanvasObject) {
	if p == nil {
		return nil
	}
	if p.Folder != "" {
		rows = append(rows, f.fact("folder", p.Folder))
	}
	if p.Problem != "" {
		rows = append(rows, warning(p.Problem))
	}
	if p.Content != nil {
		rows = append(rows, f.fact("content", display.FileContent(p.Content)))
	}
	switch {
	case p.Content != nil && p.Diff == "":
		rows = append(rows, warning("The content cannot be shown as a change of text, so it can be allowed only once."))
	case p.Truncated:
		rows = append(rows, warning("The change is longer than shown here, so it can be allowed only once."))
	}
	if p.Outside {
		rows = append(rows, warning("This is outside the workspace."))
	}
	if p.Secret != "" {
		rows = append(rows, warning("This folder contains keys and tokens: "+p.Secret))
	}
	return rows
}

// sandboxRows shows what limits the call.
func (f facts) sandboxRows(q protocol.Question) (rows []fyne.CanvasObject) {
	add := func(label, text string, isWarning bool) {
		switch {
		case text == "":
		case isWarning:
			rows = append(rows, f.labels.Row(label, warning(text)))
		default:
			rows = append(rows, f.fact(label, text))
		}
	}
	if question.NotConfined(q) {
		add("sandbox", question.NotConfinedText, true)
	} else if q.Sandbox != "" {
		add("sandbox", display.Sandbox(q.Sandbox, q.Host), question.PartlyConfined(q))
	}
	add("your rules", question.FilesText(q), question.FilesLoose(q))
	words, open := question.NetworkWords(q)
	add("network", words, open)
	return rows
}

func (v *callView) machine(q protocol.Question) fyne.CanvasObject {
	color := v.Machines.Color(string(q.Node))
	mark := widgets.NewRect(color, "", 3)
	id := string(q.Node)
	isServer := v.Machines.IsServer(id)
	icon := container.NewGridWrap(fyne.NewSquareSize(style.IconNormal), widget.NewIcon(style.IconIn(widgets.Choose(isServer, "link", "machine"), color)))
	name := widgets.NewHeading(v.Machines.Name(id), "text")
	var about []string
	if isServer {
		about = append(about, "MCP server")
	}
	if name.Text != id {
		about = append(about, id)
	}
	if q.Host != nil {
		for _, s := range []string{q.Host.OS, display.Peer(q.Host)} {
			if s != "" {
				about = append(about, s)
			}
		}
	}
	text, _ := wording.Reveal(strings.Join(about, ", "))
	head := widgets.Row(style.Inside, -1, container.NewCenter(container.NewGridWrap(fyne.NewSquareSize(12), mark)), icon, name)
	return widgets.Beside(style.Inside, machineWidth, head, newWrapText("text", false, span{text: text, color: style.ColorMuted}))
}

// machineWidth is the least width of the text about a machine beside its name.
const machineWidth float32 = 240

// call shows the command or the change itself, with hidden characters made visible.
func (v *callView) call(q protocol.Question, o *options) []fyne.CanvasObject {
	text, hidden := wording.Reveal(display.Subject(q) + "\n" + display.OtherArguments(q))
	if q.Preview != nil && q.Preview.Diff != "" {
		diff, more := wording.Reveal(q.Preview.Diff)
		text, hidden = text+"\n"+diff, hidden || more
	}
	var rows []fyne.CanvasObject
	if q.Preview != nil && q.Preview.Diff != "" {
		rows = v.change(q, o)
	} else {
		rows = v.command(q, o)
	}
	if more := display.OtherArguments(q); more != "" {
		rows = append(rows, v.fact("with", more))
	}
	if hidden {
		rows = append(rows, warning("It contains invisible characters, shown here as ⟨U+…⟩."))
	}
	if words := question.Lookalikes(text); words != nil {
		rows = append(rows, warning("It mixes letters that look alike but are different: "+strings.Join(words, "; ")+"."))
	}
	return rows
}

func warning(text string) fyne.CanvasObject {
	icon := widget.NewIcon(style.IconIn("warning", style.ColorNeedsYou))
	text, _ = wording.Reveal(text)
	return widgets.WithIcon("text", 0, icon, newWrapText("text", false, span{text: text, color: style.ColorNeedsYou}))
}

// change shows a change of a file, with a check box for each hunk that can be allowed alone.
func (v *callView) change(q protocol.Question, o *options) []fyne.CanvasObject {
	name, _ := wording.Reveal(display.Subject(q))
	o.changeText = newWrapText("text", false, span{text: question.ChangeText(q, nil), color: style.ColorText})
	rows := []fyne.CanvasObject{v.fact(widgets.Choose(display.IsKeep(q), "what", "file"), name), v.labels.Row("change", o.changeText)}
	lang := strings.TrimPrefix(path.Ext(name), ".")
	hunks := question.Hunks(q.Preview.Diff)
	if len(hunks) == 0 {
		text, _ := wording.Reveal(q.Preview.Diff)
		whole := diff.NewPanel(text)
		whole.SetForward(v.onScroll)
		return append(rows, whole)
	}
	canPick := question.CanPick(q)
	for _, h := range hunks {
		if canPick {
			rows = append(rows, o.hunkCheck(len(hunks)))
		}
		rows = append(rows, diff.NewHunkView(h, lang, v.onScroll))
	}
	return rows
}

// command shows a command with its risky parts underlined, and the parts explained below it.
func (v *callView) command(q protocol.Question, o *options) []fyne.CanvasObject {
	var spans []span
	parts := question.CommandSpans(q)
	if len(parts) == 0 {
		parts = []question.CommandSpan{{Text: "no arguments"}}
	}
	for _, s := range parts {
		shown, _ := wording.Reveal(s.Text)
		shown = strings.ReplaceAll(shown, "\t", "    ")
		spans = append(spans, span{shown, widgets.Choose(s.Risky, style.ColorBad, style.ColorText), s.Risky})
	}
	text := widgets.Inset(style.Inside, style.Inside, style.Inside, style.Inside, newWrapText(style.SizeCode, true, spans...))
	background := widgets.NewRect(style.ColorCode, style.ColorLine, style.Corner)
	copyButton := widgets.NewIconButton("copy", "Copy", func() { v.Copy(display.Subject(q)) })
	copyButton.Muted = true
	copyButton.OnKey = v.onKey
	rows := []fyne.CanvasObject{container.NewStack(background, widgets.Border(nil, nil, nil, container.NewVBox(copyButton), text))}
	for i, p := range question.CommandParts(q) {
		if i == maxParts {
			rows = append(rows, widgets.NewText("and more parts", style.ColorMuted, style.SizeSmall))
			break
		}
		rows = append(rows, part(p))
		grants := o.folderRows(p.Folders...)
		if p.Network {
			grants = append(o.networkRows(), grants...)
		}
		for _, g := range grants {
			rows = append(rows, widgets.Inset(-style.Inside, 0, -style.Inside, style.Group, g))
		}
	}
	return rows
}

// maxParts is the maximum number of parts listed.
const maxParts = 12

// part explains a part of a command: its program, its risk, and what the sandbox will stop.
func part(p question.CommandPart) fyne.CanvasObject {
	icon, color := "right", style.ColorMuted
	var lines []fyne.CanvasObject
	line := func(text string, c fyne.ThemeColorName) {
		if text != "" {
			text, _ = wording.Reveal(text)
			lines = append(lines, newWrapText("text", false, span{text: format.Capital(text), color: c}))
		}
	}
	line(p.Risk, style.ColorBad)
	line(p.Stopped, style.ColorNeedsYou)
	switch {
	case p.Risk != "":
		icon, color = "warning", style.ColorBad
	case p.Stopped != "":
		icon, color = "warning", style.ColorNeedsYou
	}
	program, _ := wording.Reveal(p.Program)
	name := widgets.NewText(program, widgets.Choose(lines == nil, style.ColorMuted, style.ColorText), style.SizeCode)
	name.Style.Monospace, name.Ellipsis = true, lines == nil
	var text fyne.CanvasObject = name
	if lines != nil { // 2: the texts stand on one line
		text = widgets.Beside(style.Inside, riskWidth, widgets.Inset(2, 0, 0, 0, name), widgets.Col(0, lines...))
	}
	return widgets.WithIcon(style.SizeCode, 0, widget.NewIcon(style.IconIn(icon, color)), text)
}

// riskWidth is the least width of the words about a part beside its program.
const riskWidth float32 = 280
