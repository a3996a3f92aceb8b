package style

import (
	"bytes"
	"fmt"
	"image/color"
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"fairlead/assets"
)

// Icon returns an icon of package assets in the colour of text. It follows the theme.
func Icon(name string) fyne.Resource { return IconIn(name, ColorText) }

// icons has all icons in use, by name and colour.
var icons sync.Map

// IconIn returns an icon in a given colour: the same resource for the same icon.
func IconIn(name string, c fyne.ThemeColorName) fyne.Resource {
	i, _ := icons.LoadOrStore([2]string{name, string(c)}, &icon{name: name, color: c, svg: assets.Icon(name)})
	return i.(*icon)
}

// IconInField returns an icon in a given colour for a text field. Fyne aligns the icon's top with
// the top of the line, which is too high, so the picture is lower within this icon.
func IconInField(name string, c fyne.ThemeColorName) fyne.Resource {
	const low = 3 // of 24: between the middle of capitals and that of small letters
	svg := bytes.Replace(assets.Icon(name), []byte(`viewBox="0 0 24 24"`), fmt.Appendf(nil, `viewBox="0 -%d 24 24"`, low), 1)
	return &icon{name: name + "-field", color: c, svg: svg}
}

// icon is a picture in a named colour: Fyne's own themed resource supports only Fyne's colours.
type icon struct {
	name  string
	color fyne.ThemeColorName
	svg   []byte
}

func (i *icon) hex() string {
	c := color.NRGBAModel.Convert(Color(i.color)).(color.NRGBA)
	return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
}

// Name includes the colour, because Fyne caches by name.
func (i *icon) Name() string { return i.name + i.hex() + ".svg" }

func (i *icon) Content() []byte { return bytes.ReplaceAll(i.svg, []byte(assets.Ink), []byte(i.hex())) }

// ThemeColorName implements fyne.ThemedResource.
func (i *icon) ThemeColorName() fyne.ThemeColorName { return i.color }

// AppIcon returns the program's icon.
func AppIcon() fyne.Resource { return fyne.NewStaticResource("fairlead.png", assets.AppPNG) }

// TrayIcon returns the tray's glyph in a colour, with a mark if something is public; see
// [assets.Tray] and [assets.WithMark].
func TrayIcon(state assets.TrayState, needs int, isMarked bool, ink string) fyne.Resource {
	if state != assets.TrayNeedsYou {
		needs = 0
	}
	glyph, name := assets.Tray(state, needs), fmt.Sprintf("tray-%s-%d%s", state, min(needs, 10), ink)
	if isMarked {
		glyph, name = assets.WithMark(glyph), name+"-public"
	}
	return fyne.NewStaticResource(name+".svg", bytes.ReplaceAll(glyph, []byte(assets.TrayInk), []byte(ink)))
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
	theme.IconNameDocument:        "file",
	theme.IconNameFile:            "file",
	theme.IconNameFolder:          "folder",
	theme.IconNameFolderOpen:      "folder",
	theme.IconNameSettings:        "settings",
	theme.IconNameInfo:            "info",
	theme.IconNameQuestion:        "question",
	theme.IconNameHelp:            "question",
	theme.IconNameError:           "warning",
	theme.IconNameVisibility:      "eye",
	theme.IconNameComputer:        "machine",
	theme.IconNameHistory:         "clock",
	theme.IconNameDownload:        "import",
	theme.IconNameMediaPhoto:      "image",
	theme.IconNameFileImage:       "image",
	theme.IconNameFileText:        "file",
	theme.IconNameFileApplication: "file",
}
