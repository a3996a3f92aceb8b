package files

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

// notes records the requests to a machine. Requests are served concurrently, and the end of a watch
// may arrive at any time.
type notes struct {
	mu   sync.Mutex // guards the fields below
	list []string
}

func (n *notes) add(act string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, act)
}

// acts returns the requests that begin with any of some words, in their order.
func (n *notes) acts(words ...string) (list []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, act := range n.list {
		if word, _, _ := strings.Cut(act, " "); slices.Contains(words, word) {
			list = append(list, act)
		}
	}
	return list
}

// fileMachine is a machine that supports the file browser and records requests.
func fileMachine(done *notes) func(*feedtest.Gateway) {
	return func(f *feedtest.Gateway) {
		f.Snapshot.Nodes = []protocol.NodeInfo{{ID: "nas", Online: true, Files: true, Host: &protocol.HostInfo{Workspace: "/srv", Folders: []protocol.Folder{{Path: "/srv"}, {Path: "/media/photos"}}}}}
		feedtest.On(f, protocol.FilesList, func(p protocol.FilesListParams) (protocol.FilesListResult, error) {
			return protocol.FilesListResult{Path: "/srv/" + p.Path, WatchID: "w-" + p.Path, Entries: []protocol.FileInfo{
				{Name: "b.txt", Kind: protocol.FileRegular, Size: 2, Time: 2}, {Name: "sub", Kind: protocol.FileFolder}, {Name: "a.txt", Kind: protocol.FileRegular, Size: 1, Time: 1},
			}}, nil
		})
		feedtest.On(f, protocol.FilesMove, func(p protocol.FilesMoveParams) (protocol.FilesDone, error) {
			done.add("move " + p.Path + " " + p.To)
			return protocol.FilesDone{Path: p.To}, nil
		})
		feedtest.On(f, protocol.FilesTrash, func(p protocol.FilesTrashParams) (protocol.FilesTrashResult, error) {
			done.add("trash " + strings.Join(p.Paths, " "))
			return protocol.FilesTrashResult{Items: []protocol.Trashed{{ID: "1", Path: "/srv/" + p.Paths[0]}}, Problem: "no further"}, nil
		})
		feedtest.On(f, protocol.FilesRestore, func(p protocol.FilesRestoreParams) (protocol.FilesDone, error) {
			done.add("restore " + p.ID + " " + p.Path)
			return protocol.FilesDone{}, nil
		})
		feedtest.On(f, protocol.FilesUnwatch, func(p protocol.FilesUnwatchParams) (protocol.Ack, error) {
			done.add("unwatch " + p.WatchID)
			return protocol.Ack{}, nil
		})
		feedtest.On(f, protocol.FilesChanges, func(protocol.FilesChangesParams) (protocol.FilesChangesResult, error) {
			return protocol.FilesChangesResult{Changes: []protocol.FileChange{{ID: "c", Path: "/srv/a.txt", Last: true}}}, nil
		})
	}
}

func TestAFolderOfAMachineFollowsItsChanges(t *testing.T) {
	var done notes
	feedtest.Run(t, feed.New, fileMachine(&done), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		fs := newModel(a)
		look := func(want string) {
			t.Helper()
			synctest.Wait()
			if got := names(fs.Value.Get().Entries); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		fs.Open("nas")
		look("sub/ a.txt b.txt")
		if v := fs.Value.Get(); !v.CanBrowse || len(v.Changed) != 1 {
			t.Errorf("got %+v; want CanBrowse and Changed of length 1", v)
		}
		list := func(name string) {
			feedtest.On(f, protocol.FilesList, func(p protocol.FilesListParams) (protocol.FilesListResult, error) {
				watch := ""
				if p.Watch {
					watch = "w-" + p.Path
				}
				return protocol.FilesListResult{WatchID: watch, Entries: []protocol.FileInfo{{Name: name, Kind: protocol.FileRegular}}}, nil
			})
		}
		list("c.txt")
		for range 5 { // several are merged into one request
			a.FilesChanged(protocol.FilesChange{WatchIDs: []string{"w-"}, Path: "/srv", Removed: []string{"b.txt"}})
		}
		time.Sleep(2 * refreshPause)
		look("c.txt")
		if acts := done.acts("unwatch"); acts != nil {
			t.Errorf("a change ends the watch: %v", acts)
		}
		list("d.txt")
		a.FilesChanged(protocol.FilesChange{WatchIDs: []string{"other"}, Removed: []string{"c.txt"}})
		time.Sleep(2 * refreshPause)
		look("c.txt")
		fileMachine(&done)(f)
		fs.Enter("sub")
		look("sub/sub/ sub/a.txt sub/b.txt")
		if acts := done.acts("unwatch"); !slices.Contains(acts, "unwatch w-") {
			t.Errorf("the folder before is watched still: %v", acts)
		}
		a.FilesChanged(protocol.FilesChange{WatchIDs: []string{"w-sub"}, Again: true})
		time.Sleep(2 * refreshPause)
		synctest.Wait()
		if n := len(f.Called(protocol.FilesList.Name)); n != 4 {
			t.Errorf("listed %d times, want 4", n)
		}
		fs.Close()
		synctest.Wait()
		if acts := done.acts("unwatch"); acts[len(acts)-1] != "unwatch w-sub" {
			t.Errorf(`got %v; want the last of acts "unwatch w-sub"`, acts)
		}
	})
}

func TestLateListingIsIgnored(t *testing.T) {
	var done notes
	feedtest.Run(t, feed.New, fileMachine(&done), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		slow := make(chan struct{})
		asked := 0
		feedtest.On(f, protocol.FilesList, func(p protocol.FilesListParams) (protocol.FilesListResult, error) {
			name := "old.txt"
			f.Mu.Lock()
			asked++
			first := asked == 1
			f.Mu.Unlock()
			if first {
				<-slow
			} else {
				name = "new.txt"
			}
			return protocol.FilesListResult{Path: "/srv", WatchID: name, Entries: []protocol.FileInfo{{Name: name, Kind: protocol.FileRegular}}}, nil
		})
		fs := newModel(a)
		fs.Open("nas")
		synctest.Wait()
		fs.Reload()
		synctest.Wait()
		close(slow)
		synctest.Wait()
		if got := names(fs.Value.Get().Entries); got != "new.txt" {
			t.Errorf(`%q is shown, want "new.txt"`, got)
		}
		if acts := done.acts("unwatch"); !slices.Equal(acts, []string{"unwatch old.txt"}) {
			t.Errorf("got %v; want %v", acts, []string{"unwatch old.txt"})
		}
		a.FilesChanged(protocol.FilesChange{WatchIDs: []string{"new.txt"}})
		time.Sleep(2 * refreshPause)
		synctest.Wait()
		if asked != 3 {
			t.Errorf("listed %d times after a change, want 3", asked)
		}
	})
}

func TestAFolderIsListedAgainDuringAListing(t *testing.T) {
	var done notes
	feedtest.Run(t, feed.New, fileMachine(&done), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		var mu sync.Mutex
		asked := 0
		feedtest.On(f, protocol.FilesList, func(protocol.FilesListParams) (protocol.FilesListResult, error) {
			mu.Lock()
			defer mu.Unlock()
			if asked++; asked == 1 { // the machine reports it before its list arrives
				a.FilesChanged(protocol.FilesChange{WatchIDs: []string{"first"}, Again: true})
				return protocol.FilesListResult{Path: "/srv", WatchID: "first", Entries: []protocol.FileInfo{{Name: "old.txt", Kind: protocol.FileRegular}}}, nil
			}
			return protocol.FilesListResult{Path: "/srv", WatchID: "second", Entries: []protocol.FileInfo{{Name: "new.txt", Kind: protocol.FileRegular}}}, nil
		})
		fs := newModel(a)
		fs.Open("nas")
		time.Sleep(2 * refreshPause)
		synctest.Wait()
		if got := names(fs.Value.Get().Entries); got != "new.txt" || asked != 2 {
			t.Errorf(`%q is shown, listed %d times; want "new.txt" and 2`, got, asked)
		}
		var p protocol.FilesListParams
		if err := json.Unmarshal(f.Called(protocol.FilesList.Name)[1], &p); err != nil || !p.Watch {
			t.Errorf("the folder is not watched again: %v", err)
		}
		a.FilesChanged(protocol.FilesChange{WatchIDs: []string{"second"}})
		time.Sleep(2 * refreshPause)
		synctest.Wait()
		if asked != 3 {
			t.Errorf("listed %d times after a change, want 3", asked)
		}
	})
}

func TestFilterResultsFollowChangesInSubfolders(t *testing.T) {
	var done notes
	feedtest.Run(t, feed.New, fileMachine(&done), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		found := []string{"sub/old.txt"}
		feedtest.On(f, protocol.InvokeTool, func(protocol.ToolInvokeParams) (protocol.ToolInvokeResult, error) {
			raw, err := protocol.Marshal(map[string]any{"basePath": "/srv", "matches": found})
			return protocol.ToolInvokeResult{Result: raw}, err
		})
		fs := newModel(a)
		fs.Open("nas")
		synctest.Wait()
		fs.SetFilter("txt")
		synctest.Wait()
		found = append(found, "sub/deep/new.txt")
		for range 5 { // several are merged into one request
			a.FilesChanged(protocol.FilesChange{WatchIDs: []string{"w-"}, Path: "/srv", Below: []string{"sub/deep"}})
		}
		time.Sleep(2 * refreshPause)
		synctest.Wait()
		if got := names(fs.Value.Get().Entries); got != "sub/deep/new.txt sub/old.txt" {
			t.Errorf("got %q, want %q", got, "sub/deep/new.txt sub/old.txt")
		}
		if n := len(f.Called(protocol.InvokeTool.Name)); n != 2 {
			t.Errorf("asked %d times, want 2", n)
		}
		a.FilesChanged(protocol.FilesChange{WatchIDs: []string{"w-"}, Path: "/srv", Shallow: "there are too many"})
		if got := fs.Value.Get().WatchProblem; got != "there are too many" {
			t.Errorf("got %q, want %q", got, "there are too many")
		}
		fs.Enter("sub")
		if got := fs.Value.Get().WatchProblem; got != "" {
			t.Errorf("of another folder it says %q", got)
		}
	})
}

func TestFileActionsRunOnTheMachineAndCanBeUndone(t *testing.T) {
	var done notes
	feedtest.Run(t, feed.New, fileMachine(&done), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		fs := newModel(a)
		fs.Open("nas")
		synctest.Wait()
		fs.Enter("sub")
		synctest.Wait()
		for _, name := range []string{"", " ", "..", "a/b", `a\b`} {
			if _, _, err := fs.Folder.Rename(t.Context(), "sub/a.txt", name); err == nil {
				t.Errorf("the name %q was taken", name)
			}
		}
		for _, name := range []string{"a.txt", " b.txt "} { // unchanged, whatever is around it
			if to, undo, err := fs.Folder.Rename(t.Context(), "sub/"+name, name); err != nil || undo != nil || to != "sub/"+name {
				t.Errorf("%q became %q, undone %v, %v", name, to, undo != nil, err)
			}
		}
		to, undo, err := fs.Folder.Rename(t.Context(), "sub/a.txt", "new.txt ")
		if err != nil || to != "sub/new.txt" {
			t.Errorf(`got %q, %v; want no error and to "sub/new.txt"`, to, err)
		}
		fs.Enter("") // undo restores the name, whatever folder is open
		undo()
		synctest.Wait()
		fs.Enter("sub")
		synctest.Wait()
		n, undo, err := fs.Folder.MoveInto(t.Context(), []string{"sub/a.txt", "sub/b.txt", "sub/deep"}, "sub/deep")
		if n != 2 || err != nil {
			t.Errorf("got %d, %v; want 2 and no error", n, err)
		}
		undo()
		synctest.Wait()
		if n, _, err := fs.Folder.MoveInto(t.Context(), []string{"sub/a.txt", "top.txt"}, ""); n != 1 || err != nil {
			t.Errorf("got %d, %v; want 1 and no error", n, err)
		}
		synctest.Wait()
		if s := strings.Join(done.acts("move"), "; "); s != "move sub/a.txt sub/new.txt; move sub/new.txt sub/a.txt; move sub/a.txt sub/deep/a.txt; move sub/b.txt sub/deep/b.txt; move sub/deep/b.txt sub/b.txt; move sub/deep/a.txt sub/a.txt; move sub/a.txt a.txt" {
			t.Errorf("got %v, want %q", s, "move sub/a.txt sub/new.txt; move sub/new.txt sub/a.txt; move sub/a.txt sub/deep/a.txt; move sub/b.txt sub/deep/b.txt; move sub/deep/b.txt sub/b.txt; move sub/deep/a.txt sub/a.txt; move sub/a.txt a.txt")
		}
		n, undo, err = fs.Folder.Trash(t.Context(), []string{"sub/a.txt", "sub/b.txt"})
		if n != 1 || err == nil || err.Error() != "no further" {
			t.Errorf(`got %d, %v; want 1 and the error "no further"`, n, err)
		}
		undo()
		synctest.Wait()
		if s := strings.Join(done.acts("trash", "restore"), "; "); s != "trash sub/a.txt sub/b.txt; restore 1 /srv/sub/a.txt" {
			t.Errorf("got %v, want %q", s, "trash sub/a.txt sub/b.txt; restore 1 /srv/sub/a.txt")
		}
		v := fs.Value.Get()
		if c := v.Crumbs(a.Machines.Get()); len(c) != 1 || c[0] != (Crumb{"sub", "sub"}) {
			t.Errorf("got %v; want length 1 and c[0] %v", c, Crumb{"sub", "sub"})
		}
		fs.Enter("/media/photos/2024")
		if c := fs.Value.Get().Crumbs(a.Machines.Get()); len(c) != 2 || c[0] != (Crumb{"photos", "/media/photos"}) || c[1] != (Crumb{"2024", "/media/photos/2024"}) {
			t.Errorf("got %v; want length 2, c[0] %v and c[1] %v", c, Crumb{"photos", "/media/photos"}, Crumb{"2024", "/media/photos/2024"})
		}
		fs.Enter("/srv/deep/er/")
		if d := fs.Value.Get().Dir; d != "deep/er" {
			t.Errorf("got %v, want %q", d, "deep/er")
		}
		synctest.Wait()
	})
}

func TestShownFilesMatchFolderAndFilter(t *testing.T) {
	feedtest.Run(t, feed.New, fileMachine(new(notes)), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		f.Mu.Lock()
		f.Latency = time.Second // the machine has not answered yet where the test looks at once
		f.Mu.Unlock()
		settle := func() { time.Sleep(time.Minute); synctest.Wait() }
		fs := newModel(a)
		fs.Open("nas")
		settle()
		top := fs.Value.Get().Entries
		fs.SetFilter(top[len(top)-1].Path)
		if v := fs.Value.Get(); names(v.Entries) != top[len(top)-1].Path || v.Loading {
			t.Errorf("before the machine answers the filter leaves %s of %s", names(v.Entries), names(top))
		}
		fs.SetFilter("no such name")
		if !fs.Value.Get().Loading {
			t.Error("it says that nothing is found, and nobody has looked")
		}
		fs.SetFilter("")
		settle()
		fs.Enter("sub")
		if v := fs.Value.Get(); len(v.Entries) > 0 || !v.Loading {
			t.Errorf("in the folder that is loading there is %s, which can be chosen and deleted", names(v.Entries))
		}
		settle()
	})
}

func TestHiddenFilesAreOmittedByDefault(t *testing.T) {
	var done notes
	feedtest.Run(t, feed.New, fileMachine(&done), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		feedtest.On(f, protocol.FilesList, func(p protocol.FilesListParams) (protocol.FilesListResult, error) {
			return protocol.FilesListResult{Path: "/srv/" + p.Path, Entries: []protocol.FileInfo{
				{Name: ".git", Kind: protocol.FileFolder}, {Name: ".env", Kind: protocol.FileRegular}, {Name: "a.txt", Kind: protocol.FileRegular},
			}}, nil
		})
		fs := newModel(a)
		look := func(want string, hidden int) {
			t.Helper()
			synctest.Wait()
			if v := fs.Value.Get(); names(v.Entries) != want || v.Hidden != hidden {
				t.Errorf("%q with %d hidden, want %q with %d", names(v.Entries), v.Hidden, want, hidden)
			}
		}
		fs.Open("nas")
		look("a.txt", 2)
		fs.Enter(".git") // the files in a hidden folder are not hidden
		look(".git/a.txt", 2)
		fs.ShowHidden(true)
		look(".git/.git/ .git/.env .git/a.txt", 0)
		fs.Open("nas")
		look(".git/ .env a.txt", 0)
	})
}

func TestMissingRememberedFolderOpensTheTop(t *testing.T) {
	var done notes
	feedtest.Run(t, feed.New, fileMachine(&done), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		feedtest.On(f, protocol.FilesList, func(p protocol.FilesListParams) (protocol.FilesListResult, error) {
			if p.Path == "gone" {
				return protocol.FilesListResult{}, protocol.ErrNotFound.With("there is no such folder")
			}
			return protocol.FilesListResult{Entries: []protocol.FileInfo{{Name: "a.txt", Kind: protocol.FileRegular}}}, nil
		})
		fs := newModel(a)
		fs.Return("nas", "sub")
		synctest.Wait()
		if v := fs.Value.Get(); v.Dir != "sub" || names(v.Entries) != "sub/a.txt" {
			t.Errorf("%q: got files %q, want folder sub with sub/a.txt", v.Dir, names(v.Entries))
		}
		fs.Return("nas", "gone")
		synctest.Wait()
		if v := fs.Value.Get(); v.Dir != "" || v.Problem != "" || names(v.Entries) != "a.txt" {
			t.Errorf(`%q has %q, problem %q; want nothing, "a.txt" and nothing`, v.Dir, names(v.Entries), v.Problem)
		}
		fs.Enter("gone") // the person's own choice: the problem is shown
		synctest.Wait()
		if v := fs.Value.Get(); v.Dir != "gone" || v.Problem == "" {
			t.Errorf(`%q, problem %q; want Dir "gone" and some Problem`, v.Dir, v.Problem)
		}
	})
}

func TestRenamingChangesTheStemOfAName(t *testing.T) {
	for name, want := range map[string]string{"a.txt": "a", "a.tar.gz": "a", ".bashrc": ".bashrc", "Makefile": "Makefile", "dir.d/": "dir.d", ".tar.gz": ".tar"} {
		dir := strings.HasSuffix(name, "/")
		e := Entry{Path: "x/" + strings.TrimSuffix(name, "/"), Dir: dir}
		if got := e.Stem(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func BenchmarkVisibleEntriesOfAHundredThousand(b *testing.B) {
	list := make([]Entry, 100_000)
	for i := range list {
		name := fmt.Sprintf("%sfile-%05d.txt", map[bool]string{true: "."}[i%10 == 0], (i*7919)%len(list))
		list[i] = entryOf("src", protocol.FileInfo{Name: name, Kind: protocol.FileRegular, Size: int64(i)})
	}
	for b.Loop() {
		shown := visibleEntries(list, View{Dir: "src"})
		Sort{}.order(shown)
		if len(shown) != 90_000 {
			b.Fatalf("got %d files, want 90000", len(shown))
		}
	}
}

func TestFilesAreSortedByTheColumnThatIsClicked(t *testing.T) {
	file := func(name string, size, time int64) Entry {
		return Entry{Path: name, Info: protocol.FileInfo{Name: name, Kind: protocol.FileRegular, Size: size, Time: time}}
	}
	list := []Entry{file("b", 1, 3), {Path: "dir", Dir: true, Info: protocol.FileInfo{Name: "dir"}}, file("A", 3, 1), file("c", 2, 2)}
	var s Sort
	check := func(want string) {
		t.Helper()
		s.order(list)
		if got := names(list); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
	check("dir/ A b c")
	s = s.Next(ByName)
	check("dir/ c b A")
	s = s.Next(BySize)
	check("dir/ A c b")
	s = s.Next(BySize)
	check("dir/ b c A")
	s = s.Next(ByTime)
	check("dir/ b c A")
	if s = s.Next(ByName); s.Down {
		t.Error("names begin with Z")
	}
}
