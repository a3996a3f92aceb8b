package chat

import (
	"cmp"
	"context"
	"encoding/base64"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"

	"fairlead/app/conversation"
	"fairlead/app/host"
	"fairlead/app/picture"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// attachments are the pictures and files of the message in the composer, each with a chip.
type attachments struct {
	chat     *current
	onResize func() // called when the chips need another size
	onRemove func() // called after a chip was removed, which had the focus
	// readFile and readClipboard read pictures; the latter is nil if the system cannot.
	readFile      func(path string) (protocol.Attachment, error)
	readClipboard func(context.Context) (protocol.Attachment, error)

	list    []protocol.Attachment
	chips   *fyne.Container
	strip   *fyne.Container // container of the chips, which scrolls
	problem *widgets.Text   // reason why a file could not be added
	isLow   bool            // the pane has little height: the chips get one line
}

func newAttachments(chat *current) *attachments {
	a := &attachments{chat: chat, chips: widgets.Flow(style.Inside), problem: widgets.NewText("", style.ColorBad, style.SizeSmall)}
	a.readFile = picture.Read
	if picture.CanPaste() {
		a.readClipboard = picture.Paste
	}
	a.strip = container.New(&stripLayout{files: a}, widgets.NewVScroll(a.chips))
	a.strip.Hide()
	a.problem.Ellipsis = true
	a.problem.Hide()
	return a
}

// stripLayout shows up to two lines of chips, or one in a low window; others are scrolled to.
type stripLayout struct {
	files  *attachments
	height float32 // height at the last layout
}

// lowPaneHeight is the pane height below which chips get one line.
const lowPaneHeight = 640

func (l *stripLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(60, l.height) }

func (l *stripLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	l.height = 0
	if chips := l.files.chips; len(chips.Objects) > 0 {
		line, lines := chips.Objects[0].MinSize().Height, widgets.Choose[float32](l.files.isLow, 1, 2)
		chips.Resize(fyne.NewSize(size.Width, size.Height))
		chips.Layout.Layout(chips.Objects, size)
		if l.height = chips.MinSize().Height; l.height > lines*(line+style.Inside) {
			// a part of the next line shows that there are more
			l.height = lines*(line+style.Inside) + line/4
		}
	}
	o[0].Resize(fyne.NewSize(size.Width, l.height))
}

// add adds an attachment, or shows why it could not be read.
func (a *attachments) add(file protocol.Attachment, err error) {
	if err != nil {
		a.problem.SetText("Could not attach the file: " + err.Error())
		a.problem.Show()
	} else {
		a.list = append(a.list, file)
	}
	a.show()
}

// addPaths adds pictures, and the paths of other files.
func (a *attachments) addPaths(paths []string) {
	a.problem.Hide()
	for _, path := range paths {
		switch strings.ToLower(filepath.Ext(path)) {
		case ".png", ".jpg", ".jpeg", ".gif", ".webp":
			a.read(path)
		default:
			a.add(fileByPath(path), nil)
		}
	}
}

// read adds the picture in a file.
func (a *attachments) read(path string) {
	a.load(func(context.Context) (protocol.Attachment, error) { return a.readFile(path) })
}

// paste adds the picture in the clipboard, and reports whether the system can read pictures there.
func (a *attachments) paste() bool {
	if a.readClipboard == nil {
		return false
	}
	a.problem.Hide()
	a.load(a.readClipboard)
	return true
}

// load adds the picture that read returns.
func (a *attachments) load(read func(context.Context) (protocol.Attachment, error)) {
	var file protocol.Attachment
	var err error
	a.chat.host.Run(a.chat.ctx, "", func(ctx context.Context) error {
		file, err = read(ctx)
		return nil
	}, func() { a.add(file, err) })
}

// set replaces the list.
func (a *attachments) set(list []protocol.Attachment) {
	a.list = list
	a.show()
}

// show shows a changed list.
func (a *attachments) show() {
	a.chips.Objects = nil
	for i, file := range a.list {
		a.chips.Add(a.chip(file, func() {
			a.list = slices.Delete(slices.Clone(a.list), i, i+1)
			a.show()
			a.onRemove()
		}))
	}
	widgets.SetVisible(a.strip, len(a.list) > 0)
	a.onResize()
}

// chip shows an attachment: its picture, name and size, and a button that removes it.
func (a *attachments) chip(file protocol.Attachment, remove func()) fyne.CanvasObject {
	if x, ok := AttachedItemOf(file); ok {
		return itemChip(x, remove)
	}
	button := widgets.NewIconButton("cross", "Remove "+file.Filename, remove)
	button.Small, button.Muted = true, true
	if isFileByPath(file) {
		return container.NewStack(widgets.NewRect("", style.ColorLine, style.Corner), widgets.Row(0, -1, fileChip(file.Filename), button))
	}
	// an unreadable attachment shows an icon
	raw, _ := base64.StdEncoding.DecodeString(file.Data)
	r := conversation.Drawable(file.Filename, raw)
	picture := canvas.NewImageFromResource(r)
	picture.FillMode = canvas.ImageFillContain
	picture.SetMinSize(fyne.NewSize(36, 28))
	name := widgets.NewText(format.Clip(cmp.Or(file.Filename, "picture"), 32), style.ColorText, style.SizeSmall)
	size := widgets.NewText(format.Size(int64(len(raw))), style.ColorMuted, style.SizeSmall)
	open := widgets.NewClickable(widgets.Inset(2, 4, 2, 4, widgets.Row(style.Inside, -1, picture, name, size)), func() { a.chat.host.Open(host.Picture{Resource: r}) })
	return container.NewStack(widgets.NewRect("", style.ColorLine, style.Corner), widgets.Row(0, -1, open, button))
}
