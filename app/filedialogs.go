package app

import (
	"context"
	"errors"
	"io"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/storage"

	"fairlead/app/bind"
)

// showFiles opens a file dialog. Fyne requires it to be open before its size is set (fyne 2.8.0,
// dialog/file.go MinSize).
func showFiles(d *dialog.FileDialog) {
	d.Show()
	d.Resize(fyne.NewSize(760, 520))
}

func pickFiles(w fyne.Window, done func([]string)) {
	d := dialog.NewFileOpen(func(r fyne.URIReadCloser, err error) {
		if err != nil || r == nil {
			return
		}
		defer r.Close()
		done([]string{r.URI().Path()})
	}, w)
	showFiles(d)
}

func pickFolder(w fyne.Window, done func(string)) {
	d := dialog.NewFolderOpen(func(dir fyne.ListableURI, err error) {
		if err == nil && dir != nil {
			done(dir.Path())
		}
	}, w)
	showFiles(d)
}

// saveAs asks for a file name and saves a text there as Markdown.
func (o *opener) saveAs(window fyne.Window, title, text string) {
	d := dialog.NewFileSave(func(w fyne.URIWriteCloser, err error) {
		if err != nil || w == nil {
			return
		}
		bind.Go(o.ui.ctx, func(context.Context) (struct{}, error) {
			_, err := w.Write([]byte(text))
			return struct{}{}, errors.Join(err, w.Close())
		}, func(_ struct{}, err error) {
			if err != nil {
				o.ui.messages.showIn(window, "The chat could not be saved: "+err.Error())
				return
			}
			o.ui.messages.showIn(window, "Saved to "+w.URI().Path())
		})
	}, window)
	d.SetFileName(fileName(title) + ".md")
	d.SetFilter(storage.NewExtensionFileFilter([]string{".md"}))
	showFiles(d)
}

// maxRulesFile is the largest file of rules that can be imported, in bytes: about a thousand times
// the usual size.
const maxRulesFile = 8 << 20

// saveTo asks for a file name and calls write with the file; the text that write returns is shown.
func (o *opener) saveTo(name string, write func(context.Context, io.Writer) (string, error)) {
	d := dialog.NewFileSave(func(w fyne.URIWriteCloser, err error) {
		if err != nil || w == nil {
			return
		}
		bind.Go(o.ui.ctx, func(ctx context.Context) (string, error) {
			text, err := write(ctx, w)
			return text, errors.Join(err, w.Close())
		}, func(text string, err error) {
			if err != nil {
				o.ui.messages.show("The file was not saved completely: " + err.Error())
				return
			}
			o.ui.messages.show(text)
		})
	}, o.ui.main.window)
	d.SetFileName(name)
	showFiles(d)
}

// openFile asks for a file of rules and reads it.
func (o *opener) openFile(done func([]byte)) {
	d := dialog.NewFileOpen(func(r fyne.URIReadCloser, err error) {
		if err != nil || r == nil {
			return
		}
		bind.Go(o.ui.ctx, func(context.Context) ([]byte, error) {
			data, err := io.ReadAll(io.LimitReader(r, maxRulesFile+1))
			if err == nil && len(data) > maxRulesFile {
				err = errors.New("it is larger than 8 MB")
			}
			return data, errors.Join(err, r.Close())
		}, func(data []byte, err error) {
			if err != nil {
				o.ui.messages.show("The file could not be read: " + err.Error())
				return
			}
			done(data)
		})
	}, o.ui.main.window)
	showFiles(d)
}
