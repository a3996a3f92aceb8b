package fs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/tooltest"
)

func names(list []entry) string {
	var all []string
	for _, e := range list {
		name := e.Name
		if e.IsDir {
			name += "/"
		}
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

func TestFolderIsListed(t *testing.T) {
	b := newBench(t)
	b.File("b.txt", "hello")
	b.File("a/deep/x", "1")
	b.File("a/y", "22")
	flat := tooltest.Must[listOut](b, "fs_list", tooltest.Args{"path": b.WS.Dir()})
	if names(flat.Entries) != "a/ b.txt" || flat.Count != 2 || flat.Truncated || flat.Entries[1].Size != 5 || flat.Entries[1].Path != "" {
		t.Errorf("got %+v, want a/ and b.txt of 5 bytes", flat)
	}
	if e := flat.Entries[1]; time.Since(time.Unix(e.MTime, 0)) > time.Hour || len(e.Mode) != 4 || e.Mode[0] != '0' {
		t.Errorf("got %+v, want a new file with its mode", e)
	}
	all := tooltest.Must[listOut](b, "fs_list", tooltest.Args{"path": b.WS.Dir(), "recursive": true})
	if names(all.Entries) != "a/ deep/ x y b.txt" || all.Entries[2].Path != in(b, "a/deep/x") {
		t.Errorf("got %+v, want all below, with their paths", all)
	}
	some := tooltest.Must[listOut](b, "fs_list", tooltest.Args{"path": b.WS.Dir(), "recursive": true, "limit": 3})
	if some.Count != 3 || !some.Truncated {
		t.Errorf("got %+v, want 3 entries, truncated", some)
	}
	fault(b, "fs_list", tooltest.Args{"path": b.WS.Dir(), "limit": maxEntries + 1}, protocol.FaultInvalidArgs, "limit")
	fault(b, "fs_list", tooltest.Args{"path": b.WS.Dir(), "limit": -1}, protocol.FaultInvalidArgs, "limit")
	fault(b, "fs_list", tooltest.Args{"path": in(b, "none")}, protocol.FaultNotFound, "does not exist")
	fault(b, "fs_list", tooltest.Args{"path": in(b, "b.txt")}, protocol.FaultInvalidArgs, "")
}

func TestListingHasTheDefaultLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range defaultEntries + 1 {
		if err := os.Mkdir(in(b, fmt.Sprint(i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if out := tooltest.Must[listOut](b, "fs_list", tooltest.Args{"path": b.WS.Dir()}); out.Count != 10_000 || !out.Truncated {
		t.Errorf("got %d entries, truncated %v, want 10000, truncated", out.Count, out.Truncated)
	}
}

func TestLinkIsDescribedAndNotFollowed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("a", "hello")
	out := tooltest.Must[statOut](b, "fs_stat", tooltest.Args{"path": path})
	if out.Entry.Name != "a" || out.Entry.Size != 5 || out.Entry.IsDir || out.Path != path {
		t.Errorf("got %+v, want the file a of 5 bytes", out)
	}
	if out := tooltest.Must[statOut](b, "fs_stat", tooltest.Args{"path": b.WS.Dir()}); !out.Entry.IsDir {
		t.Errorf("got %+v, want a folder", out)
	}
	fault(b, "fs_stat", tooltest.Args{"path": in(b, "none")}, protocol.FaultNotFound, "does not exist")
	link := in(b, "link")
	if err := os.Symlink("/does/not/exist", link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if out := tooltest.Must[statOut](b, "fs_stat", tooltest.Args{"path": link}); out.Entry.Name != "link" || out.Entry.IsDir {
		t.Errorf("got %+v, want the link", out)
	}
	if p := tooltest.Preview(b, "fs_stat", tooltest.Args{"path": link}); p.Outside || p.Problem != "" || p.Path != link {
		t.Errorf("got preview %+v, want the link itself", p)
	}
}

func TestDeletedFilesGoToTheTrash(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.File("d/a", "hello")
	if out := tooltest.Must[doneOut](b, "fs_delete", tooltest.Args{"path": path}); out.Path != path {
		t.Errorf("got %+v, want %s", out, path)
	}
	fault(b, "fs_delete", tooltest.Args{"path": path}, protocol.FaultNotFound, "does not exist")
	b.File("d/b", "1")
	fault(b, "fs_delete", tooltest.Args{"path": in(b, "d")}, protocol.FaultFailedPrecondition, "Set recursive")
	tooltest.Must[doneOut](b, "fs_delete", tooltest.Args{"path": in(b, "d"), "recursive": true})
	if _, err := os.Lstat(in(b, "d")); !os.IsNotExist(err) {
		t.Errorf("got error %v, want that the folder is gone", err)
	}
	tooltest.Must[doneOut](b, "fs_mkdir", tooltest.Args{"path": in(b, "empty")})
	tooltest.Must[doneOut](b, "fs_delete", tooltest.Args{"path": in(b, "empty")})
	found := false
	filepath.WalkDir(b.WS.Dir(), func(path string, d os.DirEntry, _ error) error {
		if !d.IsDir() && filepath.Base(path) != "" {
			data, _ := os.ReadFile(path)
			found = found || string(data) == "hello"
		}
		return nil
	})
	if !found {
		t.Error("the deleted file is not in the trash")
	}
}

func TestDeletionHighInTheTreeNeedsForce(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{"/": 0, "/etc": 1, "/home/ann": 2, "/home/ann/x": 3, `C:\`: 1, `C:\Windows\System32`: 3, "C:/a//b": 3} {
		if got := depth(path); got != want {
			t.Errorf("%s: got %d, want %d", path, got, want)
		}
	}
	for in, want := range map[removeIn]bool{{Path: "/etc/hosts"}: true, {Path: "/etc", Recursive: true, Force: true}: true, {Path: "/etc/x/..", Recursive: true}: false, {Path: "/a/b/c", Recursive: true}: true} {
		if err := in.checkDepth(); (err == nil) != want {
			t.Errorf("%+v: got %v; want success %v", in, err, want)
		}
	}
	b := newBench(t)
	if runtime.GOOS == "windows" {
		return
	}
	for _, path := range []string{"/", "/etc", "/home/nobody-at-all"} {
		fault(b, "fs_delete", tooltest.Args{"path": path, "recursive": true}, protocol.FaultInvalidArgs, "Set force")
	}
	if p := tooltest.Preview(b, "fs_delete", tooltest.Args{"path": "/etc", "recursive": true}); !strings.Contains(p.Problem, "Set force") {
		t.Errorf("got preview %+v, want a problem that names force", p)
	}
	fault(b, "fs_delete", tooltest.Args{"path": "/etc", "recursive": true, "force": true}, protocol.FaultPermissionDenied, "")
	fault(b, "fs_delete", tooltest.Args{"path": b.WS.Dir(), "recursive": true, "force": true}, protocol.FaultPermissionDenied, "is or contains the workspace")
}

func TestFolderIsCreated(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := in(b, "a/b/c")
	fault(b, "fs_mkdir", tooltest.Args{"path": path}, protocol.FaultNotFound, "")
	for range 2 {
		if out := tooltest.Must[doneOut](b, "fs_mkdir", tooltest.Args{"path": path, "recursive": true, "mode": "0700"}); out.Path != path {
			t.Errorf("got %+v, want %s", out, path)
		}
	}
	fault(b, "fs_mkdir", tooltest.Args{"path": path}, protocol.FaultAlreadyExists, "")
	fault(b, "fs_mkdir", tooltest.Args{"path": path, "mode": "rwx"}, protocol.FaultInvalidArgs, "octal")
	tooltest.Must[doneOut](b, "fs_mkdir", tooltest.Args{"path": in(b, "a/d"), "mode": "0711"})
	if runtime.GOOS == "windows" {
		return
	}
	for path, want := range map[string]os.FileMode{path: 0o700, in(b, "a/d"): 0o711} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: got mode %v, error %v, want %v", path, info.Mode(), err, want)
		}
	}
}

// server serves files for downloads.
func server(t *testing.T) string {
	mux := http.NewServeMux()
	mux.HandleFunc("/hello", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "hello"+r.Header.Get("X-More"))
	})
	mux.HandleFunc("/host", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Host) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/hello", http.StatusFound) })
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/gone", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusGone) })
	mux.HandleFunc("/private", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusForbidden) })
	mux.HandleFunc("/short", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10")
		io.WriteString(w, "abc")
	})
	mux.HandleFunc("/big", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, strings.Repeat("x", 5000)) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

func TestFileIsDownloaded(t *testing.T) {
	t.Parallel()
	b, url := newBench(t), server(t)
	path := in(b, "new/a")
	out := tooltest.Must[fetchOut](b, "fs_fetch", tooltest.Args{"path": path, "url": url + "/moved", "expected_sha256": strings.ToUpper(sumOfHello), "mode": "0600"})
	if out.Total != 5 || out.SHA256 != sumOfHello || content(t, path) != "hello" || out.Path != path {
		t.Errorf("got %+v, want hello at %s", out, path)
	}
	more := tooltest.Must[fetchOut](b, "fs_fetch", tooltest.Args{"path": path, "url": url + "/hello", "headers": map[string]string{"X-More": "!"}})
	if sum := sha256.Sum256([]byte("hello!")); more.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("got %+v, want the checksum of hello!", more)
	}
	tooltest.Must[fetchOut](b, "fs_fetch", tooltest.Args{"path": path, "url": url + "/host", "headers": map[string]string{"Host": "evil.example", "Content-Length": "3"}})
	if got := content(t, path); got != strings.TrimPrefix(url, "http://") {
		t.Errorf("got the host %s, want that of %s", got, url)
	}
}

func TestFailedDownloadLeavesTheOldFile(t *testing.T) {
	t.Parallel()
	b, url := newBench(t), server(t)
	path := b.File("a", "old")
	for _, c := range []struct {
		args tooltest.Args
		code protocol.FaultCode
		text string
	}{
		{tooltest.Args{"url": "ftp://x/y"}, protocol.FaultInvalidArgs, "http://"},
		{tooltest.Args{"url": "http://ann:secret@x/y"}, protocol.FaultInvalidArgs, "headers"},
		{tooltest.Args{"url": url + "/hello", "fetch_max_bytes": maxFetch + 1}, protocol.FaultInvalidArgs, fmt.Sprint(maxFetch)},
		{tooltest.Args{"url": url + "/hello", "mode": "x"}, protocol.FaultInvalidArgs, "octal"},
		{tooltest.Args{"url": url + "/none"}, protocol.FaultNotFound, "404"},
		{tooltest.Args{"url": url + "/gone"}, protocol.FaultNotFound, "410"},
		{tooltest.Args{"url": url + "/private"}, protocol.FaultPermissionDenied, "403"},
		{tooltest.Args{"url": url + "/loop"}, protocol.FaultTargetUnreachable, "5 redirects"},
		{tooltest.Args{"url": url + "/short"}, protocol.FaultInternal, "broke off"},
		{tooltest.Args{"url": url + "/big", "fetch_max_bytes": 4999}, protocol.FaultTooLarge, "4999"},
		{tooltest.Args{"url": "http://127.0.0.1:1/x"}, protocol.FaultTargetUnreachable, "could not be reached"},
	} {
		c.args["path"] = path
		fault(b, "fs_fetch", c.args, c.code, c.text)
	}
	f := fault(b, "fs_fetch", tooltest.Args{"path": path, "url": url + "/hello", "expected_sha256": strings.Repeat("0", 64)}, protocol.FaultFailedPrecondition, sumOfHello)
	if !strings.Contains(string(f.Details), sumOfHello) {
		t.Errorf("got details %s, want the checksum %s", f.Details, sumOfHello)
	}
	if content(t, path) != "old" {
		t.Errorf("got file %q, want old", content(t, path))
	}
	if list, _ := os.ReadDir(b.WS.Dir()); len(list) != 1 {
		t.Errorf("got files %v, want one", list)
	}
	tooltest.Must[fetchOut](b, "fs_fetch", tooltest.Args{"path": path, "url": url + "/big", "fetch_max_bytes": 5000})
}
