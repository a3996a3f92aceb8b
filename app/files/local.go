package files

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// listLocal lists a folder of this computer, unsorted. Paths have slashes on every system. It blocks.
func listLocal(dir string) ([]Entry, error) {
	found, err := os.ReadDir(filepath.FromSlash(dir))
	if err != nil {
		return nil, localProblem(err)
	}
	list := make([]Entry, 0, len(found))
	for _, f := range found {
		info, err := f.Info()
		if err != nil {
			continue // it was deleted meanwhile
		}
		list = append(list, entryOf(dir, localInfo(dir, info)))
	}
	return list, nil
}

func localInfo(dir string, info fs.FileInfo) protocol.FileInfo {
	out := protocol.FileInfo{Name: info.Name(), Kind: protocol.FileOther, Time: info.ModTime().UnixMilli()}
	switch {
	case info.IsDir():
		out.Kind = protocol.FileFolder
	case info.Mode().IsRegular():
		out.Kind, out.Size = protocol.FileRegular, info.Size()
	case info.Mode()&fs.ModeSymlink != 0:
		out.Kind = protocol.FileLink
		if target, err := os.Stat(filepath.Join(filepath.FromSlash(dir), info.Name())); err == nil && target.IsDir() {
			out.Leads = protocol.FileFolder
		} else if err == nil && target.Mode().IsRegular() {
			out.Leads = protocol.FileRegular
		}
	}
	return out
}

// localProblem explains to a person why a folder cannot be used.
func localProblem(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("This folder no longer exists.")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("You have no permission for this folder.")
	}
	return err
}

// arrangeLocal returns the entries that a file dialog shows, and the number of hidden ones: without
// hidden entries unless wanted, only folders or also files, those whose name contains the filter.
func arrangeLocal(list []Entry, by Sort, filter string, onlyFolders, showHidden bool) (shown []Entry, hidden int) {
	for _, e := range list {
		switch {
		case onlyFolders && !e.Dir, !wording.Matches(e.Name(), filter):
		case !showHidden && isHidden(e.Name()):
			hidden++
		default:
			shown = append(shown, e)
		}
	}
	by.order(shown)
	return shown, hidden
}

// localCrumbs returns the folders from the root to a folder of this computer.
func localCrumbs(dir string) []Crumb {
	var list []Crumb
	at := ""
	for name := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		if name == "" {
			continue
		}
		if at += "/" + name; isDrive(name) && len(list) == 0 {
			at = name + "/"
		}
		at = strings.ReplaceAll(at, "//", "/")
		list = append(list, Crumb{Name: name, Dir: at})
	}
	return list
}

func isDrive(name string) bool { return len(name) == 2 && name[1] == ':' }

// localPlaces returns the folders that people start from: the home folder and those in it that
// exist, and the roots of the disks. It blocks.
func localPlaces() []Crumb {
	home, err := os.UserHomeDir()
	if err != nil {
		return localRoots()
	}
	list := []Crumb{{Name: "Home", Dir: filepath.ToSlash(home)}}
	for _, dir := range personalFolders(home) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && dir != home {
			list = append(list, Crumb{Name: filepath.Base(dir), Dir: filepath.ToSlash(dir)})
		}
	}
	return append(list, localRoots()...)
}

// userDirLine is a line of user-dirs.dirs of the desktop (xdg-user-dirs(1)).
var userDirLine = regexp.MustCompile(`(?m)^XDG_(DESKTOP|DOCUMENTS|DOWNLOAD|PICTURES)_DIR="\$HOME/(.*)"$`)

// personalFolders returns the folders for documents and the like, in the language of the desktop.
func personalFolders(home string) (list []string) {
	config, err := os.UserConfigDir()
	if err == nil && runtime.GOOS != "windows" && runtime.GOOS != "darwin" {
		data, err := os.ReadFile(filepath.Join(config, "user-dirs.dirs"))
		if err == nil {
			for _, m := range userDirLine.FindAllStringSubmatch(string(data), -1) {
				list = append(list, filepath.Join(home, m[2]))
			}
			return list
		}
	}
	for _, name := range []string{"Desktop", "Documents", "Downloads", "Pictures"} {
		list = append(list, filepath.Join(home, name))
	}
	return list
}

func localRoots() []Crumb {
	if runtime.GOOS != "windows" {
		return []Crumb{{Name: "Computer", Dir: "/"}}
	}
	var list []Crumb
	for letter := 'C'; letter <= 'Z'; letter++ {
		drive := string(letter) + ":"
		if _, err := os.Stat(drive + `\`); err == nil {
			list = append(list, Crumb{Name: drive, Dir: drive + "/"})
		}
	}
	return list
}

// savePath returns the path of a name that a person typed in a folder; the name may be a path.
func savePath(dir, name string) string {
	name = wording.Slashes(strings.TrimSpace(name))
	if isAbsolute(name) {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}

// makeLocalFolder creates a folder with an unused name and returns its path. It blocks.
func makeLocalFolder(dir string, there []Entry) (string, error) {
	made := path.Join(dir, unusedName(there))
	if err := os.Mkdir(filepath.FromSlash(made), 0o777); err != nil {
		return "", localProblem(err)
	}
	return made, nil
}

// renameLocal renames a file or folder of this computer; it never replaces another. It blocks.
func renameLocal(old, name string) (string, error) {
	to := path.Join(path.Dir(old), name)
	if strings.ContainsAny(name, `/\`) {
		return old, errors.New("A name cannot contain a slash.")
	}
	if _, err := os.Lstat(filepath.FromSlash(to)); err == nil && to != old {
		return old, errors.New("This name is taken. Choose another one.")
	}
	if err := os.Rename(filepath.FromSlash(old), filepath.FromSlash(to)); err != nil {
		return old, localProblem(err)
	}
	return to, nil
}
