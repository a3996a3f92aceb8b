// Package system uses the desktop's own file dialogs and its file manager, reads its colour schemes, and
// writes to the console that started the program.
//
// Linux and the BSDs: the file chooser of xdg-desktop-portal
// (https://flatpak.github.io/xdg-desktop-portal/docs/doc-org.freedesktop.portal.FileChooser.html) and
// the File Manager D-Bus Interface
// (https://www.freedesktop.org/wiki/Specifications/file-manager-interface/).
// Windows: Explorer. macOS: Finder. The dialogs of Windows and macOS are not used.
package system

import "errors"

// Kind is what a [Question] asks for.
type Kind int

// The kinds of questions.
const (
	OpenFiles Kind = iota // one or more existing files
	OpenFile              // one existing file
	SaveFile              // the path of a new file, or of one to replace
	ChooseFolder
)

// Question asks for files or a folder of this computer.
type Question struct {
	Kind   Kind
	Title  string // a command, such as "Attach files"
	Button string // a verb, such as "Attach"
	Name   string // the suggested name, for SaveFile
	Dir    string // the folder that the dialog starts with; empty for any
}

// ErrNoDialog is the error of [Ask] on systems whose own dialog is not available.
var ErrNoDialog = errors.New("the desktop has no file dialog for other programs")
