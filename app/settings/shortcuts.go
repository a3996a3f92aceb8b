package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// shortcutList lists the keyboard shortcuts.
func shortcutList() fyne.CanvasObject {
	ctrl := func(key string) string { return widgets.ShortcutName(key, false) }
	var list []fyne.CanvasObject
	for _, k := range [][2]string{
		{ctrl("N"), "New chat"},
		{ctrl("K"), "Search chats"},
		{ctrl("F"), "Find in the current chat"},
		{widgets.ShortcutName("F", true), "Search all messages"},
		{ctrl("I"), "Needs you"},
		{ctrl(","), "Settings"},
		{ctrl("Tab"), "Next settings page"},
		{ctrl("L"), "Go to folder, in Files"},
		{"F3", "Two panes, in Files"},
		{"Enter", "Send the message"},
		{"Shift Enter", "New line"},
		{"Up, Down", "Earlier messages, in an empty field"},
		{"Esc", "Stop the answer; deny, in an approval"},
		{ctrl("."), "Stop the answer"},
		{widgets.ShortcutName("Enter", true), "Allow, in an approval"},
		{ctrl("W"), "Close the window"},
		{ctrl("Q"), "Quit"},
	} {
		words := widgets.NewText(k[1], style.ColorText, "text")
		words.Ellipsis = true
		list = append(list, widgets.NewText(k[0], style.ColorMuted, "text"), words)
	}
	return container.New(shortcutLayout{}, list...)
}

// shortcutLayout puts shortcuts beside their actions, one per line.
type shortcutLayout struct{}

func (shortcutLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	size := fyne.NewSize(0, 0)
	for i := 0; i < len(o); i += 2 {
		a, b := o[i].MinSize(), o[i+1].MinSize()
		size.Width = max(size.Width, labelWidth()+style.Gap+b.Width)
		size.Height += max(a.Height, b.Height) + style.Gap
	}
	return size
}

func (shortcutLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	left, y := labelWidth()+style.Gap, float32(0)
	for i := 0; i < len(o); i += 2 {
		height := max(o[i].MinSize().Height, o[i+1].MinSize().Height)
		o[i].Move(fyne.NewPos(0, y))
		o[i].Resize(fyne.NewSize(labelWidth(), height))
		o[i+1].Move(fyne.NewPos(left, y))
		o[i+1].Resize(fyne.NewSize(max(size.Width-left, 0), height))
		y += height + style.Gap
	}
}
