package app

import (
	"context"
	"maps"

	"fairlead/app/files"
	"fairlead/app/host"
	"fairlead/app/pick"
	"fairlead/app/preferences"
	"fairlead/gateway/protocol"
)

// files creates the page of files with what the person left there.
func (p *pages) files(ctx context.Context) host.View {
	prefs := p.backend.Prefs
	last := prefs.Get()
	h := files.Handlers{
		UndoLast: p.window.Chat.Messages.UndoLast, Fetch: p.sender.Fetch, Send: p.sender.Between, Drop: p.window.SendTo,
		LastPlace: last.FilesPlace, LastDir: func(place protocol.NodeID) string { return prefs.Get().FilesDirs[place] },
		Visited: func(place protocol.NodeID, dir string) { rememberFolder(prefs, place, dir) },
		Two:     last.FilesTwo, Right: last.FilesRight, Paired: func(two bool, right protocol.NodeID) {
			prefs.Update(func(r *preferences.Preferences) { r.FilesTwo, r.FilesRight = two, right })
		},
		Sort: last.Files, Sorted: func(by files.Sort) { prefs.Update(func(r *preferences.Preferences) { r.Files = by }) },
		ShowHidden: last.FilesHidden, HiddenShown: func(on bool) {
			prefs.Update(func(r *preferences.Preferences) { r.FilesHidden = on })
		},
	}
	if !p.backend.IsRemote() {
		h.Open = func(path string) { p.env.Open(host.Folder(path)) }
	}
	return files.NewPair(ctx, p.env, h)
}

func rememberFolder(prefs *preferences.Store, place protocol.NodeID, dir string) {
	prefs.Update(func(r *preferences.Preferences) {
		dirs := maps.Clone(r.FilesDirs)
		if dirs == nil {
			dirs = make(map[protocol.NodeID]string)
		}
		dirs[place] = dir
		r.FilesPlace, r.FilesDirs = &place, dirs
	})
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
