package look

import (
	"fmt"
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"fairlead/assets"
)

var (
	iconsMu sync.Mutex // guards icons
	icons   = map[string]fyne.Resource{}
)

func icon(name string) fyne.Resource {
	iconsMu.Lock()
	defer iconsMu.Unlock()
	r, ok := icons[name]
	if !ok {
		r = fyne.NewStaticResource(name+".svg", assets.Icon(name))
		icons[name] = r
	}
	return r
}

// Icon is an icon of package assets in the colour of text. It follows the theme, and the importance of the button it is on.
func Icon(name string) fyne.Resource { return theme.NewThemedResource(icon(name)) }

// IconIn is an icon in a colour of its own.
func IconIn(name string, c fyne.ThemeColorName) fyne.Resource {
	return theme.NewColoredResource(icon(name), c)
}

// AppIcon is the program's icon.
func AppIcon() fyne.Resource { return fyne.NewStaticResource("fairlead.png", assets.AppPNG) }

// TrayIcon is the tray's glyph; see [assets.Tray].
func TrayIcon(state assets.TrayState, needs int) fyne.Resource {
	if state != assets.TrayNeedsYou {
		needs = 0
	}
	return fyne.NewStaticResource(fmt.Sprintf("tray-%d-%d.svg", state, min(needs, 10)), assets.Tray(state, needs))
}

var fyneIcons = map[fyne.ThemeIconName]string{
	theme.IconNameCancel:          "cross",
	theme.IconNameConfirm:         "check",
	theme.IconNameDelete:          "trash",
	theme.IconNameSearch:          "search",
	theme.IconNameMoreHorizontal:  "more",
	theme.IconNameMenu:            "menu",
	theme.IconNameMenuExpand:      "right",
	theme.IconNameArrowDropDown:   "down",
	theme.IconNameArrowDropUp:     "up",
	theme.IconNameNavigateBack:    "back",
	theme.IconNameNavigateNext:    "right",
	theme.IconNameContentAdd:      "plus",
	theme.IconNameContentCopy:     "copy",
	theme.IconNameContentClear:    "cross",
	theme.IconNameContentUndo:     "undo",
	theme.IconNameDocument:        "file",
	theme.IconNameFile:            "file",
	theme.IconNameFolder:          "folder",
	theme.IconNameFolderOpen:      "folder",
	theme.IconNameSettings:        "settings",
	theme.IconNameInfo:            "info",
	theme.IconNameQuestion:        "question",
	theme.IconNameHelp:            "question",
	theme.IconNameWarning:         "warning",
	theme.IconNameError:           "warning",
	theme.IconNameViewRefresh:     "reset",
	theme.IconNameVisibility:      "eye",
	theme.IconNameDocumentCreate:  "edit",
	theme.IconNameMailAttachment:  "attach",
	theme.IconNameMailSend:        "send",
	theme.IconNameMediaPlay:       "play",
	theme.IconNameMediaPause:      "pause",
	theme.IconNameMediaStop:       "stop",
	theme.IconNameComputer:        "machine",
	theme.IconNameHistory:         "clock",
	theme.IconNameDownload:        "import",
	theme.IconNameUpload:          "export",
	theme.IconNameMediaPhoto:      "image",
	theme.IconNameFileImage:       "image",
	theme.IconNameFileText:        "file",
	theme.IconNameFileApplication: "file",
	theme.IconNameWindowClose:     "cross",
	theme.IconNameCalendar:        "calendar",
	theme.IconNameAccount:         "person",
	theme.IconNameMoveDown:        "down",
	theme.IconNameMoveUp:          "up",
}
