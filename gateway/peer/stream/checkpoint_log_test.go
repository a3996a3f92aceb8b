package stream

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func marksOf(t *testing.T, name string, key recordKey, file string, upTo int64) (ns []int64) {
	t.Helper()
	tr := openCheckpointLog(name)
	if tr == nil {
		t.Fatal("no trail")
	}
	defer tr.close()
	for _, m := range tr.checkpoints(key, file, upTo) {
		ns = append(ns, m.n>>20)
		if !bytes.Equal(m.state, []byte{byte(m.n >> 20)}) {
			t.Errorf("the state of %d is %v", m.n>>20, m.state)
		}
	}
	return ns
}

func at(mib int64, key recordKey, file string) keyedRecord {
	return keyedRecord{key, logRecord{checkpoint: checkpoint{mib << 20, []byte{byte(mib)}}, file: file}}
}

func TestATrailOutlivesACrashUpToItsLastWholeRecord(t *testing.T) {
	name := filepath.Join(t.TempDir(), "trail")
	a, b := recordKeyOf(partFileRecord, "a"), recordKeyOf(partFileRecord, "b")
	tr := openCheckpointLog(name)
	for _, mib := range []int64{16, 32, 48, 64, 80, 96, 112} {
		tr.add(at(mib, a, "1 2"))
		if mib < 64 {
			tr.add(at(mib, b, "1 3"))
		}
	}
	tr.close()
	equals := func(want []int64, got []int64) {
		t.Helper()
		if len(want) != len(got) {
			t.Fatalf("got %v, want %v", got, want)
		}
		for i := range want {
			if want[i] != got[i] {
				t.Fatalf("got %v, want %v", got, want)
			}
		}
	}
	equals([]int64{64, 112}, marksOf(t, name, a, "1 2", 1<<40)) // the furthest, and the ends of blocks
	equals([]int64{64, 96}, marksOf(t, name, a, "1 2", 100<<20))
	equals([]int64{48}, marksOf(t, name, b, "1 3", 1<<40))
	equals(nil, marksOf(t, name, a, "1 3", 1<<40))
	equals(nil, marksOf(t, name, a, "", 1<<40))
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	// The end of the trail is cut off or damaged.
	for _, damage := range [][]byte{whole[:len(whole)-1], append(bytes.Clone(whole[:len(whole)-20]), make([]byte, 20)...)} {
		if err := os.WriteFile(name, damage, 0o600); err != nil {
			t.Fatal(err)
		}
		equals([]int64{64, 96}, marksOf(t, name, a, "1 2", 1<<40))
	}
	tr = openCheckpointLog(name)
	tr.add(at(112, a, "1 2"))
	tr.add(at(112, a, "1 2")) // adds nothing new
	if err := tr.truncate(a, "1 2", 70<<20); err != nil {
		t.Fatal(err)
	}
	tr.close()
	if now, err := os.Stat(name); err != nil || now.Size() > info.Size()+200 {
		t.Errorf("%d bytes after %d, %v", now.Size(), info.Size(), err)
	}
	equals([]int64{64}, marksOf(t, name, a, "1 2", 1<<40))
	tr = openCheckpointLog(name)
	tr.add(at(80, a, "1 2"))
	if err := tr.truncate(b, "", 0); err != nil { // the file is gone
		t.Fatal(err)
	}
	tr.add(at(16, b, "1 3"))
	tr.close()
	equals([]int64{64, 80}, marksOf(t, name, a, "1 2", 1<<40))
	equals([]int64{16}, marksOf(t, name, b, "1 3", 1<<40))
}

func TestMarksOfALargeFileGetFarther(t *testing.T) {
	l := newHasher(nil)
	for l.n = 0; l.n < 200<<30; {
		l.n += minBlock
		l.addCheckpoint()
	}
	if len(l.checkpoints) > maxBlocks+1 || len(l.sums()) > maxBlocks+1 || blockCount(l.n) != len(l.sums()) {
		t.Errorf("%d marks, %d sums", len(l.checkpoints), len(l.sums()))
	}
	for _, s := range l.sums() {
		if string(s) == noSum {
			t.Fatal("a sum is missing")
		}
	}
	if half := 100 << 30; !l.rewind(int64(half)) || l.n != int64(half) {
		t.Error("it does not go back to the half")
	}
}

func FuzzATrailOfAnyBytesIsReadOrCut(f *testing.F) {
	name := filepath.Join(f.TempDir(), "trail")
	tr := openCheckpointLog(name)
	tr.add(at(16, recordKeyOf(partFileRecord, "a"), "1 2"), at(32, recordKeyOf(partFileRecord, "a"), "1 2"))
	tr.close()
	data, err := os.ReadFile(name)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)-3])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(t.TempDir(), "trail")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		key := recordKeyOf(partFileRecord, "a")
		tr := openCheckpointLog(name)
		if tr == nil {
			t.Fatal("it cannot be opened")
		}
		tr.checkpoints(key, "1 2", 1<<40)
		tr.add(at(200, key, "3 4"))
		tr.close()
		tr = openCheckpointLog(name)
		defer tr.close()
		if m := tr.checkpoints(key, "3 4", 1<<40); len(m) != 1 || m[0].n != 200<<20 {
			t.Errorf("what is added is not there: %v", m)
		}
	})
}
