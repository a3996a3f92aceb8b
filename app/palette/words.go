package palette

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// Placeholder is shown in the empty field.
const Placeholder = "Find chats, files, settings and actions"

// nothingFound says that no entry fits, and what a query can also be.
const nothingFound = "Nothing found. A path such as ~/Documents shows files of this computer."

// searching stands where nothing is found until all files were searched.
const searching = "Searching files…"

// noFolder says why a folder has no files to show. What the machine says is for the agent.
func (m *Model) noFolder(err error) string {
	if errors.Is(err, protocol.ErrNotConnected) || errors.Is(err, protocol.ErrUnavailable) {
		return feed.Sentence(err)
	}
	text := "This folder does not exist, or Fairlead may not read it."
	if n, ok := m.feed.View().Machines.Local(); ok && n.Host != nil && n.Host.Workspace != "" {
		text += " Files are shown from " + n.Host.Workspace + " and from folders that you allowed."
	}
	return text
}

func chatEntries(v feed.View) []Entry {
	var list []Entry
	for _, s := range v.Sessions.List {
		list = append(list, Entry{Icon: "chat", Title: feed.TitleOf(s), Kind: "Chat", Target: host.Chat{Key: s.SessionKey}})
	}
	if isMain := func(s protocol.SessionEntry) bool { return s.Main }; !slices.ContainsFunc(v.Sessions.List, isMain) { // nothing was written there yet
		key := cmp.Or(v.Status.MainSession, protocol.MainSession)
		list = append(list, Entry{Icon: "chat", Title: feed.TitleOf(protocol.SessionEntry{Main: true}), Kind: "Chat", Target: host.Chat{Key: key}})
	}
	return list
}

func machineEntries(v feed.View) []Entry {
	var list []Entry
	for _, n := range v.Machines {
		list = append(list, Entry{Icon: "machine", Title: n.DisplayName(), Kind: "Machine", Words: string(n.ID), Target: host.Machine(n.ID)})
	}
	return list
}

// machineActions are what can be done with each machine that is online.
func machineActions(v feed.View) []Entry {
	var list []Entry
	for _, n := range v.Machines {
		if !n.Online {
			continue
		}
		name := n.DisplayName()
		list = append(list, Entry{Icon: "folder", Title: "Open the files of " + name, Kind: "Action", Words: "browse", Target: host.Files(n.ID)})
		if !n.Local {
			list = append(list, Entry{Icon: "transfer", Title: "Send files to " + name, Kind: "Action", Words: "transfer copy upload file", Target: host.SendFiles(n.ID)})
		}
	}
	return list
}

// pausing is what stops or starts the agent.
func (m *Model) pausing(v feed.View) []Entry {
	if v.Status.Paused {
		return []Entry{{Icon: "play", Title: "Resume the agent", Kind: "Action", Words: "continue start", Do: func() { m.feed.Pause(false) }}}
	}
	return []Entry{{Icon: "pause", Title: "Pause the agent", Kind: "Action", Words: "stop hold", Do: func() { m.feed.Pause(true) }}}
}

func settingEntry(f protocol.ConfigField) Entry {
	return Entry{Icon: "settings", Title: f.Title, Kind: "Setting", Words: strings.Join([]string{f.Group, f.Path, f.Description}, " "), Target: host.Setting(f.Title)}
}

// joinPath returns the path of a file in a folder, in the form of the folder's system.
func joinPath(dir, name string) string {
	sep := separator(dir)
	return strings.TrimSuffix(dir, sep) + sep + name
}

// separator returns what separates names in a path.
func separator(path string) string {
	if strings.Contains(path, `\`) {
		return `\`
	}
	return "/"
}

func fileEntry(machine protocol.NodeID, dir string, f protocol.FileInfo) Entry {
	e := fileIn(machine, joinPath(dir, f.Name), f.Folder())
	e.Kind = "File"
	if f.Folder() {
		e.Kind = "Folder"
	}
	return e
}

// fileIn is a file or a folder with the folder that it is in, because others may have its name.
func fileIn(machine protocol.NodeID, file string, isFolder bool) Entry {
	i := strings.LastIndexAny(file, `/\`)
	dir := wording.VisibleName(file[:max(i, 0)])
	e := Entry{Icon: "file", Title: wording.VisibleName(file[i+1:]), Kind: "File", Words: dir, Target: host.File{Machine: machine, Path: file}}
	if isFolder {
		e.Icon, e.Kind, e.Target = "folder", "Folder", host.File{Machine: machine, Path: file + separator(file)}
	}
	e.Kind += " in " + dir[strings.LastIndexAny(dir, `/\`)+1:]
	return e
}
