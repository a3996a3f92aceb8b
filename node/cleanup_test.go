package node

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/node/browse"
	"fairlead/node/transfer"
	"fairlead/node/workspace"
)

func TestUnfinishedFilesAreSweptAtTheStartAndDaily(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	ws, err := workspace.Config{Dir: dir}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	unfinished := func(mark string, at time.Time) string {
		t.Helper()
		part, entry := filepath.Join(dir, ".fairlead-"+mark+"1.part"), filepath.Join(home, "unfinished", "node", mark)
		if err := errors.Join(os.MkdirAll(filepath.Dir(entry), 0o700), os.WriteFile(entry, []byte(strconv.Quote(ws.Dir())+"\n"), 0o600), os.WriteFile(part, nil, 0o600),
			os.Chtimes(entry, at, at), os.Chtimes(part, at, at)); err != nil {
			t.Fatal(err)
		}
		return part
	}
	exists := func(name string) bool {
		_, err := os.Stat(name)
		return err == nil
	}
	synctest.Test(t, func(t *testing.T) {
		n := &Node{opts: Options{Keep: home}, log: slog.New(slog.DiscardHandler), ws: ws, browse: browse.New(ws, "", nil)}
		old, recent := unfinished("old", time.Now().AddDate(0, -1, 0)), unfinished("recent", time.Now().AddDate(0, 0, -13))
		done := make(chan struct{})
		go func() {
			defer close(done)
			n.removeOldFiles(t.Context(), n.transferRecords(), transfer.NewFiles(ws, transfer.Policy{}))
		}()
		synctest.Wait()
		if exists(old) || !exists(recent) {
			t.Errorf("after the start: got the old folder %v, the recent one %v, want false, true", exists(old), exists(recent))
		}
		time.Sleep(2*cleanupInterval + time.Hour)
		synctest.Wait()
		if exists(recent) {
			t.Error("the recent one is there for good")
		}
	})
}
