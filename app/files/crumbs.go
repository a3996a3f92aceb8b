package files

import (
	"path"
	"strings"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// TopName returns the name of the place's top folder: that of a machine's workspace.
func (v View) TopName(machines feed.MachineList) string {
	if n, ok := machines.Find(v.Place); ok && n.Host != nil && n.Host.Workspace != "" {
		return wording.VisibleName(path.Base(wording.Slashes(n.Host.Workspace)))
	}
	return "Top folder"
}

// Crumb is one element of the path shown above the list.
type Crumb struct{ Name, Dir string }

// Crumbs returns the folders from the top, or from a granted folder, to the current one.
func (v View) Crumbs(machines feed.MachineList) []Crumb {
	var list []Crumb
	rest, from := v.Dir, ""
	if isAbsolute(v.Dir) {
		if n, ok := machines.Find(v.Place); ok && n.Host != nil {
			for _, g := range n.Host.Folders {
				top := strings.TrimSuffix(wording.Slashes(g.Path), "/")
				if under, ok := strings.CutPrefix(v.Dir+"/", top+"/"); ok && len(top) > len(from) {
					from, rest = top, strings.TrimSuffix(under, "/")
				}
			}
		}
		if from != "" {
			list = append(list, Crumb{Name: path.Base(from), Dir: from})
		}
	}
	for name := range strings.SplitSeq(rest, "/") {
		if name == "" {
			continue
		}
		if from != "" || isAbsolute(v.Dir) {
			from += "/"
		}
		from += name
		list = append(list, Crumb{Name: name, Dir: from})
	}
	return list
}

// grantedFolders returns the folders that a machine grants in addition to its workspace.
func grantedFolders(n protocol.NodeInfo) []Crumb {
	if n.Host == nil {
		return nil
	}
	others := lists.Without(n.Host.Folders, func(g protocol.Folder) bool { return g.Path == n.Host.Workspace })
	return lists.Map(others, func(g protocol.Folder) Crumb { return Crumb{Name: path.Base(wording.Slashes(g.Path)), Dir: g.Path} })
}
