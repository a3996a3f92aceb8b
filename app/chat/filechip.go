package chat

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// fileByPath is an attachment without type and data: a file that stays in its place. The message names it by
// its path, because the agent reads it with its tools.
func fileByPath(path string) protocol.Attachment { return protocol.Attachment{Filename: path} }

func isFileByPath(a protocol.Attachment) bool { return a.Data == "" && a.MimeType == "" }

// withPaths appends the paths of files to a text, one a line, and returns the other attachments.
func withPaths(text string, list []protocol.Attachment) (string, []protocol.Attachment) {
	for _, a := range list {
		if isFileByPath(a) {
			path := a.Filename
			if strings.ContainsAny(path, " \t") {
				path = fmt.Sprintf("%q", path)
			}
			text = strings.TrimPrefix(text+"\n"+path, "\n")
		}
	}
	return text, slices.DeleteFunc(slices.Clone(list), isFileByPath)
}

// fileChip shows the name of a file, and in small its folder.
func fileChip(path string) fyne.CanvasObject {
	name := widgets.NewText(format.Clip(filepath.Base(path), 32), style.ColorText, style.SizeSmall)
	dir := widgets.NewText(format.Clip(filepath.Dir(path), 24), style.ColorMuted, style.SizeSmall)
	icon := container.NewGridWrap(fyne.NewSize(20, 28), widget.NewIcon(style.IconIn("file", style.ColorMuted))) // as high as a picture
	return widgets.Inset(2, 4, 2, 8, widgets.Row(style.Inside, -1, icon, name, dir))
}
