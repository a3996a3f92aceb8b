// Package assets contains the embedded pictures: the icons of the windows, the tray glyphs and the
// program's own icon. It does not depend on a GUI toolkit; app/style turns the icons into coloured
// resources.
package assets

import (
	"embed"
	"io/fs"
	"strings"
	"sync"
)

// AppPNG is the program's icon, a fairlead with its line, 512 pixels square.
//
//go:embed app.png
var AppPNG []byte

//go:embed app.svg
var app []byte

// App is the program's icon as SVG.
func App() []byte { return outline(app) }

//go:embed icons/*.svg
var icons embed.FS

// Ink is the colour in which every icon is drawn; users replace it.
const Ink = "#000000"

// Icon returns the SVG of an icon, such as "copy": 24 units square, lines two units wide,
// everything filled with [Ink]. The caller must not change it. It panics for an unknown name, which
// any test of the caller reveals.
func Icon(name string) []byte {
	if svg, ok := outlined.Load(name); ok {
		return svg.([]byte)
	}
	data, err := icons.ReadFile("icons/" + name + ".svg")
	if err != nil {
		panic("assets: no icon " + name)
	}
	svg := outline(data)
	outlined.Store(name, svg)
	return svg
}

var outlined sync.Map // cache of SVGs by name: every row asks for icons

// Icons lists the names of all icons, sorted.
func Icons() []string {
	// cannot fail: the pattern is well-formed and the files are embedded
	files, _ := fs.Glob(icons, "icons/*.svg")
	for i, f := range files {
		files[i] = strings.TrimSuffix(strings.TrimPrefix(f, "icons/"), ".svg")
	}
	return files
}
