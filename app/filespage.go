package app

import (
	"context"
	"maps"

	"fyne.io/fyne/v2"

	"fairlead/app/feed"
	"fairlead/app/files"
	"fairlead/app/host"
	"fairlead/app/pick"
	"fairlead/app/preferences"
	"fairlead/gateway/protocol"
)

// openFiles creates the page of files, in the place that was shown last.
func (n *navigator) openFiles(ctx context.Context, at host.Target) (view fyne.CanvasObject, back func() bool) {
	prefs := n.ui.backend.Prefs
	last := prefs.Get()
	p := files.NewPair(ctx, n.ui.env(), files.Handlers{
		UndoLast: n.ui.messages.UndoLast, Fetch: n.ui.sender.Fetch, Open: n.fileOpener(),
		Drop: dropTargets{n.ui.main}.onMachine, Send: n.ui.sender.Between,
		Visited: n.rememberFolder,
		LastDir: func(place protocol.NodeID) string { return prefs.Get().FilesDirs[place] },
		Two:     last.FilesTwo, Right: last.FilesRight, Paired: func(two bool, right protocol.NodeID) {
			prefs.Update(func(r *preferences.Preferences) { r.FilesTwo, r.FilesRight = two, right })
		},
		Sort: last.Files, Sorted: func(by files.Sort) { prefs.Update(func(r *preferences.Preferences) { r.Files = by }) },
		ShowHidden: last.FilesHidden, HiddenShown: func(on bool) {
			prefs.Update(func(r *preferences.Preferences) { r.FilesHidden = on })
		},
	})
	n.files = p
	switch at := at.(type) {
	case host.File:
		p.OpenAt(at.Machine, at.Path)
	case host.AgentFile:
		p.OpenAt("", string(at))
	case host.Files:
		p.Open(protocol.NodeID(at))
	default:
		p.Open(filesPlace(n.ui.view(), last.FilesPlace))
	}
	p.Focus()
	return p.Box, p.Back
}

// fileOpener opens this computer's files with their programs; nil if the gateway is remote.
func (n *navigator) fileOpener() func(string) {
	if n.ui.backend.IsRemote() {
		return nil
	}
	return func(path string) { n.ui.opener.Path(n.ui.main.conversation.Window, path) }
}

// pickMemory stores what file dialogs remember.
func pickMemory(p *preferences.Store) pick.Memory {
	return pick.Memory{
		Recent:     func() []string { return p.Get().RecentFolders },
		SetRecent:  func(dirs []string) { p.Update(func(r *preferences.Preferences) { r.RecentFolders = dirs }) },
		Hidden:     func() bool { return p.Get().FilesHidden },
		HiddenShow: func(on bool) { p.Update(func(r *preferences.Preferences) { r.FilesHidden = on }) },
	}
}

// filesPlace returns the machine whose files the page opens: the last one if it is online, else this
// computer, else any that is online. Empty means the agent's own files: they were open last, or no
// machine is online.
func filesPlace(v feed.View, last *protocol.NodeID) protocol.NodeID {
	if last != nil {
		if n, ok := v.Machines.Find(*last); *last == "" || ok && n.Online {
			return *last
		}
	}
	if n, ok := v.Machines.Local(); ok {
		return n.ID
	}
	for _, n := range v.Machines {
		if n.Online {
			return n.ID
		}
	}
	return ""
}

func (n *navigator) rememberFolder(place protocol.NodeID, dir string) {
	n.ui.backend.Prefs.Update(func(r *preferences.Preferences) {
		dirs := maps.Clone(r.FilesDirs)
		if dirs == nil {
			dirs = make(map[protocol.NodeID]string)
		}
		dirs[place] = dir
		r.FilesPlace, r.FilesDirs = &place, dirs
	})
}
