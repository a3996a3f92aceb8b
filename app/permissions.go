package app

import (
	"bytes"
	"context"
	"errors"
	"io"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"

	"fairlead/app/audit"
	"fairlead/app/bind"
	"fairlead/app/rules"
	"fairlead/app/state"
)

// maxRulesFile is the largest file of rules that can be imported, in bytes: about a thousand times
// the usual size.
const maxRulesFile = 8 << 20

func (s *shell) rulesPage() page {
	return page{"shield", "Rules", func(ctx context.Context) fyne.CanvasObject {
		p := rules.New(ctx, s.b.state, rules.Handlers{
			Undo: s.offerUndo, Say: s.say,
			Save: func(name string, data []byte) {
				s.saveTo(name, func(_ context.Context, w io.Writer) (string, error) {
					_, err := io.Copy(w, bytes.NewReader(data))
					return "The rules were saved.", err
				})
			},
			Open: s.openFile, Config: func() { s.openSettings(); s.find("toolApproval") },
		})
		s.pageBack = p.Back
		return p.Box
	}}
}

func (s *shell) auditPage() page {
	return page{"list", "Audit", func(ctx context.Context) fyne.CanvasObject {
		p := audit.New(ctx, s.b.state, audit.Handlers{Say: s.say, OpenChat: s.open, SaveTo: s.saveTo, View: func() state.View { return s.view }})
		s.pageBack = p.Back
		return p.Box
	}}
}

// saveTo asks for a file name and calls write with the file; the text that write returns is shown.
func (s *shell) saveTo(name string, write func(context.Context, io.Writer) (string, error)) {
	d := dialog.NewFileSave(func(w fyne.URIWriteCloser, err error) {
		if err != nil || w == nil {
			return
		}
		bind.Go(s.ctx, func(ctx context.Context) (string, error) {
			text, err := write(ctx, w)
			return text, errors.Join(err, w.Close())
		}, func(text string, err error) {
			if err != nil {
				s.say("The file is not complete: " + err.Error())
				return
			}
			s.say(text)
		})
	}, s.window)
	d.SetFileName(name)
	showFiles(d)
}

// openFile asks for a file of rules and reads it.
func (s *shell) openFile(done func([]byte)) {
	d := dialog.NewFileOpen(func(r fyne.URIReadCloser, err error) {
		if err != nil || r == nil {
			return
		}
		bind.Go(s.ctx, func(context.Context) ([]byte, error) {
			data, err := io.ReadAll(io.LimitReader(r, maxRulesFile+1))
			if err == nil && len(data) > maxRulesFile {
				err = errors.New("it has more than 8 MB")
			}
			return data, errors.Join(err, r.Close())
		}, func(data []byte, err error) {
			if err != nil {
				s.say("The file could not be read: " + err.Error())
				return
			}
			done(data)
		})
	}, s.window)
	showFiles(d)
}
