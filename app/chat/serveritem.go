package chat

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// attachItem attaches a resource or a prompt of an MCP server. It asks for a prompt's arguments.
func (c *composer) attachItem(i protocol.ServerItem) {
	if len(i.Arguments) == 0 {
		c.files.add(AttachedItem{Item: i}.Attachment(), nil)
		return
	}
	canvas := fyne.CurrentApp().Driver().CanvasForObject(c.window)
	if canvas == nil {
		return
	}
	askArguments(canvas, i, func(values map[string]string) {
		c.files.add(AttachedItem{Item: i, Arguments: values}.Attachment(), nil)
		c.focus()
	}, c.focus)
}

// argumentsWidth is the maximum width of the form for a prompt's arguments.
const argumentsWidth float32 = 400

// askArguments asks for the arguments of a prompt over a window. Enter in the last field and the
// button call done, Escape and Cancel call cancel.
func askArguments(c fyne.Canvas, i protocol.ServerItem, done func(map[string]string), cancel func()) {
	var ask *widget.PopUp
	var entries []*widgets.NameField
	problem := widgets.NewParagraph("", style.ColorBad, style.SizeSmall)
	problem.Hide()
	leave := func() {
		ask.Hide()
		cancel()
	}
	submit := func() {
		values := make(map[string]string)
		for n, a := range i.Arguments {
			text := strings.TrimSpace(entries[n].Text)
			if text == "" && a.Required {
				problem.Set("Fill in “"+a.Name+"”.", style.ColorBad)
				problem.Show()
				ask.Refresh()
				c.Focus(entries[n])
				return
			}
			if text != "" {
				values[a.Name] = text
			}
		}
		ask.Hide()
		done(values)
	}
	rows := []fyne.CanvasObject{widgets.NewParagraph(ItemTitle(i), style.ColorText, style.SizeTitle), widgets.NewParagraph(ItemKind(i), style.ColorMuted, style.SizeSmall)}
	for n, a := range i.Arguments {
		e := widgets.NewNameField()
		e.OnCancel = leave
		e.OnSubmitted = func(string) {
			if n+1 < len(entries) {
				c.Focus(entries[n+1])
				return
			}
			submit()
		}
		entries = append(entries, e)
		name, _ := wording.Reveal(a.Name)
		if !a.Required {
			name += " (optional)"
		}
		row := []fyne.CanvasObject{e}
		if about, _ := wording.Reveal(a.Description); about != "" {
			row = append(row, widgets.NewParagraph(about, style.ColorMuted, style.SizeSmall))
		}
		rows = append(rows, widgets.NewNamedField(name, row...))
	}
	attach := widgets.NewButton("Attach", "attach", submit)
	attach.Primary = true
	form := widgets.NewVScroll(widgets.Inset(0, style.Inside, 0, 0, widgets.Col(style.Group, append(rows, problem)...)))
	buttons := widgets.Inset(style.Inside, 0, 0, 0, widgets.Row(style.Inside, -1, attach, widgets.NewButton("Cancel", "", leave)))
	width := min(argumentsWidth*style.Size("text")/14, c.Size().Width-4*style.Page)
	height := min(widgets.Fit(form.Content, width)+style.Group, c.Size().Height-8*style.Page)
	box := widgets.Border(nil, buttons, nil, nil, container.NewGridWrap(fyne.NewSize(width, height), form))
	ask = widget.NewModalPopUp(widgets.Inset(style.Group, style.Group, style.Group, style.Group, box), c)
	ask.Show()
	c.Focus(entries[0])
}

// itemChip shows an attached resource or prompt: its name and server, and a button that removes it.
func itemChip(x AttachedItem, remove func()) fyne.CanvasObject {
	icon := widget.NewIcon(style.IconIn(widgets.Choose(x.Item.Kind == "prompt", "chat", "file"), style.ColorMuted))
	name := widgets.NewText(format.Clip(ItemTitle(x.Item), 32), style.ColorText, style.SizeSmall)
	kind := widgets.NewText(ItemKind(x.Item), style.ColorMuted, style.SizeSmall)
	button := widgets.NewIconButton("cross", "Remove "+ItemTitle(x.Item), remove)
	button.Small, button.Muted = true, true
	return container.NewStack(widgets.NewRect("", style.ColorLine, style.Corner),
		widgets.Row(0, -1, widgets.Inset(6, 4, 6, style.Inside, widgets.Row(style.Inside, -1, icon, name, kind)), button))
}
