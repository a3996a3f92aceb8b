package stream

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// disk gives access to all folders below home.
type disk struct{ home string }

func (d disk) Source(string) (Item, error) { return Item{}, errors.New("nothing") }

func (d disk) Target(name string, _, _ bool) (Target, error) {
	if !strings.HasPrefix(name, d.home) {
		return Target{}, errors.New("outside")
	}
	root, err := os.OpenRoot(name)
	return Target{Root: root, Abs: name}, err
}

func TestSweepRemovesOnlyRecordedFiles(t *testing.T) {
	home, outside := t.TempDir(), t.TempDir()
	l := OpenUnfinished(filepath.Join(t.TempDir(), "not", "there", "yet"))
	mark := partPrefixOf("old")
	old, fresh := time.Now().Add(-30*24*time.Hour), time.Now()
	put := func(name string, at time.Time) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
		return name
	}
	gone := []string{put(filepath.Join(home, "in", mark+"1.part"), old), put(filepath.Join(home, "in", "deep\nfolder", mark+"2.part"), old)}
	stays := []string{
		put(filepath.Join(home, "in", mark+"3.part"), fresh),                 // being written
		put(filepath.Join(home, "in", mark+"1.part.txt"), old),               // the person's own file
		put(filepath.Join(home, "in", ".fairlead-notes.part"), old),          // the person's own file
		put(filepath.Join(home, "in", partPrefixOf("other")+"1.part"), old),  // of an unfinished transfer
		put(filepath.Join(home, "elsewhere", mark+"1.part"), old),            // nothing was sent to this folder
		put(filepath.Join(outside, mark+"1.part"), old),                      // not reachable now
		put(filepath.Join(home, "in", mark+"folder.part", "kept.part"), old), // a folder
	}
	if runtime.GOOS != "windows" {
		link := filepath.Join(home, "in", mark+"link.part")
		if err := os.Symlink(stays[0], link); err != nil {
			t.Fatal(err)
		}
		stays = append(stays, link)
	}
	for _, dir := range []string{"in", "in", "in/deep\nfolder", "no longer"} {
		l.addFolder(mark, filepath.Join(home, filepath.FromSlash(dir)))
	}
	away := partPrefixOf("away")
	l.addFolder(away, outside)
	for _, m := range []string{mark, away} {
		if err := os.Chtimes(l.path(m), old, old); err != nil {
			t.Fatal(err)
		}
	}
	l.addFolder(partPrefixOf("other"), filepath.Join(home, "in"))
	if n := l.Sweep(disk{home}, time.Now().Add(-PartAge)); n != len(gone) {
		t.Errorf("%d were removed, want %d", n, len(gone))
	}
	for _, name := range gone {
		if _, err := os.Lstat(name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("left: got %s, want error ErrNotExist", name)
		}
	}
	for _, name := range stays {
		if _, err := os.Lstat(name); err != nil {
			t.Error(err)
		}
	}
	// Files that could not be removed are tried again.
	for _, m := range []string{mark, away, partPrefixOf("other")} {
		if _, err := os.Stat(l.path(m)); err != nil {
			t.Error(err)
		}
	}
	if err := os.Chtimes(stays[0], old, old); err != nil {
		t.Fatal(err)
	}
	if n := l.Sweep(disk{home}, time.Now().Add(-PartAge)); n != 1 {
		t.Errorf("%d were removed the second time, want 1", n)
	}
	if _, err := os.Stat(l.path(mark)); !errors.Is(err, os.ErrNotExist) {
		t.Error("the ledger keeps what is done")
	}
	if n := (*UnfinishedFiles)(nil).Sweep(disk{home}, time.Now()); n != 0 {
		t.Errorf("no ledger removed %d, want 0", n)
	}
}

func TestCheckpointsOfTheLatestTransfersAreKept(t *testing.T) {
	l := OpenUnfinished(t.TempDir())
	first := l.checkpoints("first", atDestination)
	first.add("f", fileState{content: "1"})
	first.add("g", fileState{}) // whose content cannot be identified
	if again := l.checkpoints("first", atDestination); len(again) != 1 || len(l.checkpoints("first", atSource)) != 0 {
		t.Errorf(`got %v; want length 1 and no checkpoints of "first", atSource`, again)
	}
	for i := range maxCheckpointTransfers {
		l.checkpoints(strconv.Itoa(i), atSource)
	}
	if again := l.checkpoints("first", atDestination); len(again) != 0 || len(l.latest.all) != maxCheckpointTransfers {
		t.Errorf("%v of %d; want none and latest.all of length %v", again, len(l.latest.all), maxCheckpointTransfers)
	}
	many := make(checkpoints)
	for i := range 2 * maxCheckpointFiles {
		many.add(strconv.Itoa(i), fileState{content: "1"})
	}
	if len(many) != maxCheckpointFiles {
		t.Errorf("got %d files, want %d", len(many), maxCheckpointFiles)
	}
}

func TestStatesOfALargeFileAreSpacedApart(t *testing.T) {
	l := newHasher(nil)
	for l.n = checkpointEvery; l.n <= 512<<30; l.n += checkpointEvery {
		l.retain()
	}
	if n := len(l.retained); n > (maxBlocks+1)*stepsPerBlock || n < maxBlocks*stepsPerBlock/2 {
		t.Errorf("%d states are retained, want about %d", n, maxBlocks*stepsPerBlock)
	}
	for n := blockSize(l.n); n < 512<<30; n += blockSize(l.n) {
		if !slices.ContainsFunc(l.retained, func(c checkpoint) bool { return c.n == n }) {
			t.Errorf("none at the end of a block, %d", n)
		}
	}
}
