// Package preferences stores what the windows of this computer remember until the next start.
package preferences

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"fyne.io/fyne/v2"

	"fairlead/app/forwards"
	"fairlead/app/native"
	"fairlead/gateway/protocol"
)

// Preferences are those of this computer's windows. They are stored in the data folder,
// not in Fyne's preferences, so that a second data folder has its own.
type Preferences struct {
	Width        float32             `json:"width,omitempty"`
	Height       float32             `json:"height,omitempty"`
	Place        native.Place        `json:"place,omitzero"`         // of the main window
	SettingsPage string              `json:"settingsPage,omitempty"` // title of the page shown last
	ChatWidth    float32             `json:"tornWidth,omitempty"`    // of chat windows
	ChatHeight   float32             `json:"tornHeight,omitempty"`
	Chat         protocol.SessionKey `json:"chat,omitempty"`
	// Theme and TextSize copy the configuration, for the first frame.
	Theme        string  `json:"theme,omitempty"`
	TextSize     float32 `json:"textSize,omitempty"`
	FirstRunDone bool    `json:"begun,omitempty"`      // the first-run page is done
	WrapOutput   bool    `json:"wrapOutput,omitempty"` // outputs of commands wrap their lines
	// Seen has, per chat, the time of the last activity that the person has seen.
	Seen map[protocol.SessionKey]int64 `json:"seen,omitempty"`
	// Drafts are the unsent texts by chat. Never changed in place.
	Drafts map[protocol.SessionKey]string `json:"drafts,omitempty"`

	Version   string      `json:"version,omitempty"`   // of the last start with a window
	Workspace string      `json:"workspace,omitempty"` // the agent's folder on this computer
	Confine   Confinement `json:"confine,omitzero"`
	Listen    string      `json:"listen,omitempty"`
	Hidden    bool        `json:"startHidden,omitempty"`
	// Forwards are those that are opened again at the next start. Never changed in place.
	Forwards []forwards.Spec `json:"forwards,omitempty"`

	Files      FileSort        `json:"files,omitzero"` // sort order of file lists
	FilesTwo   bool            `json:"filesTwo,omitempty"`
	FilesRight protocol.NodeID `json:"filesRight,omitempty"` // machine in the second file list
	// FilesPlace is the machine whose files were shown last; empty for the agent's own, nil for none.
	FilesPlace *protocol.NodeID `json:"filesPlace,omitempty"`
	// FilesDirs are the folders shown last, by machine. Never changed in place.
	FilesDirs   map[protocol.NodeID]string `json:"filesDirs,omitempty"`
	FilesHidden bool                       `json:"filesHidden,omitempty"` // hidden files are shown
	// RecentFolders are those that were chosen in file dialogs, newest first. Never changed in place.
	RecentFolders []string `json:"recentFolders,omitempty"`
}

// FileSort is the order of lists of files; the zero value sorts by name.
type FileSort struct {
	By   string `json:"by,omitempty"`
	Down bool   `json:"down,omitempty"` // reversed order
}

// ChatSize is the size of chat windows, or another one if it is not known.
func (p Preferences) ChatSize(other fyne.Size) fyne.Size {
	return sizeOr(p.ChatWidth, p.ChatHeight, other)
}

// Size is the size of the main window, or another one if it is not known.
func (p Preferences) Size(other fyne.Size) fyne.Size { return sizeOr(p.Width, p.Height, other) }

func sizeOr(width, height float32, other fyne.Size) fyne.Size {
	if width < 100 || height < 100 {
		return other
	}
	return fyne.NewSize(width, height)
}

// Dir returns the folder of a window's data: a subfolder of home for a remote gateway.
func Dir(home, join string) string {
	if join == "" {
		return home
	}
	sum := sha256.Sum256([]byte(join))
	return filepath.Join(home, "gateways", hex.EncodeToString(sum[:8]))
}
