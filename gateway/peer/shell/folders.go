package shell

import (
	"slices"
	"strings"
)

// Folder is the folder of a command, as far as the text alone determines it.
type Folder struct {
	// Steps are the targets of cd in their order, from the folder in which the text starts. See
	// [Word.Path] for their form.
	Steps   []string
	Unknown bool // the text alone does not determine it
}

// Folders are all folders in which a command may run: every cd before it may have succeeded, failed,
// or affected only a part of the text.
type Folders struct {
	// Ways lead to the folders: each has the targets of some cd in their order, from the folder in
	// which the text starts. One of them is empty.
	Ways    [][]Word
	Moved   bool // the text may change the folder before the command
	Unknown bool // there are no Ways: the command may run anywhere
}

// maxWays bounds the ways to the folders of a command; with more, they are unknown.
const maxWays = 64

// folderCommands are the commands that change the folder of their shell. z and j are functions that
// many people define.
var folderCommands = map[string]bool{"cd": true, "pushd": true, "popd": true, "chdir": true, "z": true, "j": true}

// folderTarget returns the folder to which a command changes that of its shell; nil if its words do
// not say which. ok is false for a command that does not change it.
func folderTarget(words []Word) (to *Word, ok bool) {
	name := words[0].Text
	switch {
	case words[0].Dynamic || !folderCommands[name]:
		return nil, false
	case name == "cd" && len(words) == 1:
		return &Word{Text: "~", Tilde: true}, true
	case name != "cd" && name != "chdir":
		return nil, true
	}
	targets := slices.DeleteFunc(slices.Clone(words[1:]), func(w Word) bool {
		return w.Text == "--" || w.Text == "-P" || w.Text == "-L" || w.Text == "-e"
	})
	if len(targets) != 1 || targets[0].Text == "" || strings.HasPrefix(targets[0].Text, "-") {
		return nil, true
	}
	return &targets[0], true
}

// after returns the folders in which commands after c may run, if c may run in f.
func (f Folders) after(c Command) Folders {
	to, ok := folderTarget(c.Words)
	if !ok {
		return f
	}
	unknown := Folders{Moved: true, Unknown: true}
	if to == nil || f.Unknown || c.Loop || c.Guess || to.Dynamic || to.Ambiguous || to.Glob {
		return unknown
	}
	ways := slices.Clone(f.Ways)
	for _, way := range f.Ways {
		if to.Tilde || strings.HasPrefix(to.Text, "/") {
			way = nil
		}
		way = append(slices.Clip(way), *to)
		if !slices.ContainsFunc(ways, func(have []Word) bool { return slices.Equal(have, way) }) {
			ways = append(ways, way)
		}
	}
	if len(ways) > maxWays {
		return unknown
	}
	return Folders{Ways: ways, Moved: true}
}

// addFolders adds to all commands, and to the end of the text, the folders that are possible there.
func (f *Facts) addFolders() {
	at := Folders{Ways: [][]Word{nil}}
	for _, c := range f.Commands {
		if c.Loop && !c.Guess && (c.Name() == "cd" || c.Name() == "pushd" || c.Name() == "popd") {
			at = Folders{Unknown: true} // the second round starts in an unknown folder
		}
	}
	for i, c := range f.Commands {
		f.Commands[i].Possible = at
		at = at.after(c)
	}
	f.Last = at
}
