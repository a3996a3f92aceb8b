package palette

import (
	"errors"
	"strings"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// Placeholder is shown in the empty field.
const Placeholder = "Find chats, machines, files, settings and actions"

// nothingFound says that no entry fits, and what a query can also be.
const nothingFound = "Nothing found. A path such as ~/Documents shows files of this computer."

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
	return list
}

func machineEntries(v feed.View) []Entry {
	var list []Entry
	for _, n := range v.Machines {
		list = append(list, Entry{Icon: "machine", Title: feed.NameOf(n), Kind: "Machine", Words: string(n.ID), Target: host.Machine(n.ID)})
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
		name := feed.NameOf(n)
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

func fileEntry(machine protocol.NodeID, dir string, f protocol.FileInfo) Entry {
	sep := "/"
	if strings.Contains(dir, `\`) {
		sep = `\`
	}
	e := Entry{Icon: "file", Title: wording.VisibleName(f.Name), Kind: "File", Target: host.File{Machine: machine, Path: strings.TrimSuffix(dir, sep) + sep + f.Name}}
	if f.Folder() {
		to := e.Target.(host.File)
		e.Icon, e.Kind, e.Target = "folder", "Folder", host.File{Machine: to.Machine, Path: to.Path + sep}
	}
	return e
}

// changedEntry is a file that the agent changed, with its folder, because others may have its name.
func changedEntry(machine protocol.NodeID, file string) Entry {
	i := strings.LastIndexAny(file, `/\`)
	dir := wording.VisibleName(file[:max(i, 0)])
	return Entry{
		Icon: "file", Title: wording.VisibleName(file[i+1:]), Kind: "File in " + dir[strings.LastIndexAny(dir, `/\`)+1:], Words: dir,
		Target: host.File{Machine: machine, Path: file},
	}
}
