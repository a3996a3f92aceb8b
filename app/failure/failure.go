// Package failure says why the program could not start, and what to do.
package failure

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/native"
	"fairlead/app/pick"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/system"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// startProblem explains why the program cannot start: what happened, and what to do. known is false
// for causes that the error itself has to explain.
func startProblem(home string, err error) (what, todo string, known bool) {
	const elsewhere = "or choose another folder for Fairlead's data."
	switch {
	case system.IsErrno(err, syscall.EROFS, 19): // ERROR_WRITE_PROTECT
		return "The data folder is on a read-only disk.", "Make " + home + " writable, " + elsewhere, true
	case system.IsErrno(err, syscall.ENOSPC, 112), system.IsErrno(err, syscall.EDQUOT, 39): // ERROR_DISK_FULL, ERROR_HANDLE_DISK_FULL
		return "The disk of the data folder is full.", "Free up space on the disk of " + home + ". No saved messages were lost.", true
	case errors.Is(err, fs.ErrPermission):
		return "Fairlead cannot write to its data folder.", "Change the permissions of " + home + ", " + elsewhere, true
	case system.IsErrno(err, syscall.ENOTDIR, 267): // ERROR_DIRECTORY
		return "The data folder cannot be created.", "A file is in the way of " + home + ". Move it, " + elsewhere, true
	}
	return "Fairlead cannot start.", "Fix the cause below and try again.", false
}

// Explained is an error of the start in words for the person.
func Explained(home string, err error) error {
	if e, ok := errors.AsType[*protocol.Error](err); ok { // it is a sentence already
		return e
	}
	what, todo, known := startProblem(home, err)
	if !known {
		return err
	}
	return fmt.Errorf("%s %s (%w)", what, todo, err)
}

// newContent creates the content of the window that says why the program did not start.
func newContent(home string, err error, retry, chooseFolder, quit func()) fyne.CanvasObject {
	what, todo, known := startProblem(home, err)
	again := widgets.NewButton("Try again", "", retry)
	again.Primary = true
	cause := widget.NewLabel(err.Error())
	cause.Selectable, cause.Wrapping = true, fyne.TextWrapWord
	other := widgets.NewButton("Choose another folder…", "folder", chooseFolder)
	widgets.SetVisible(other, known) // the other causes are not in the folder
	return container.NewStack(widgets.NewRect("background", "", 0), widgets.Inset(style.Page, style.Page, style.Page, style.Page,
		widgets.Col(style.Group,
			widgets.NewHeading(what, style.SizeTitle), widgets.NewParagraph(todo, style.ColorText, "text"), widgets.WithoutPadding(cause),
			widgets.Row(style.Inside, 0, layout.NewSpacer(), widgets.NewButton("Quit", "", quit), other, again))))
}

// dataFolder returns the data folder for a folder that the person chose: the folder itself if it is
// empty or has Fairlead's data, otherwise a folder in it, so that files do not mix.
func dataFolder(chosen string) string {
	list, err := os.ReadDir(chosen)
	hasData := slices.ContainsFunc(list, func(e os.DirEntry) bool { return e.Name() == "fairlead.db" })
	if err != nil || len(list) == 0 || hasData {
		return chosen
	}
	return filepath.Join(chosen, "Fairlead")
}

// Show shows why the program did not start, until the person quits or tries again, and
// returns the exit code. Trying again starts a new process: the toolkit runs once per process.
func Show(a fyne.App, home string, err error) int {
	w := native.NewWindow(a, "Fairlead", nil)
	code := 1
	restart := func(more ...string) {
		program, err := os.Executable()
		if err == nil {
			err = exec.Command(program, append(os.Args[1:], more...)...).Start()
		}
		if err == nil {
			code = 0
		}
		a.Quit()
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	picker := pick.New(ctx, a, new(preferences.Store), system.Ask, func(string) {})
	chooseFolder := func() {
		picker.ChooseFolder(w, "Choose data folder", "Use this folder", func(dir string) { restart("--home", dataFolder(dir)) })
	}
	w.SetContent(newContent(home, err, func() { restart() }, chooseFolder, a.Quit))
	w.SetPadded(false)
	w.Resize(fyne.NewSize(560, 210))
	w.CenterOnScreen()
	w.ShowAndRun()
	return code
}
