package resident

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOnlyPagesThatAreAsInTheFileAreGivenBack(t *testing.T) {
	const smaps = `00400000-00500000 r--p 00000000 08:01 7   /opt/fairlead-desktop
Rss:                1024 kB
Anonymous:             0 kB
00500000-00900000 r-xp 00100000 08:01 7   /opt/fairlead-desktop
Anonymous:             0 kB
00900000-00910000 r--p 00500000 08:01 7   /opt/fairlead-desktop
Anonymous:             8 kB
00910000-00920000 rw-p 00510000 08:01 7   /opt/fairlead-desktop
Anonymous:             0 kB
00920000-00930000 r-xp 00000000 08:01 9   /lib/a name/libLLVM-15.so.1
Anonymous:             0 kB
00930000-00940000 r--p 00000000 00:00 0
Anonymous:             0 kB
00940000-00950000 r--s 00000000 08:01 10  /var/cache/fontconfig/x.cache
Anonymous:             0 kB
00960000-00970000 r-xp 00000000 00:00 0   [vdso]
Anonymous:             0 kB
`
	got := unchanged(strings.NewReader(smaps))
	if len(got) != 3 || got[0] != (span{0x400000, 0x500000}) || got[1] != (span{0x500000, 0x900000}) || got[2] != (span{0x920000, 0x930000}) {
		t.Errorf("%x", got)
	}
	GiveBack() // the test still works after it
}

func TestPagesOfAMappedFileAreGivenBackAndReadAgain(t *testing.T) {
	const size = 8 << 20
	path := filepath.Join(t.TempDir(), "library")
	if err := os.WriteFile(path, []byte(strings.Repeat("a line of it ...", size/16)), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	pages, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(pages)
	read := func() (sum int) {
		for i := 0; i < size; i += os.Getpagesize() {
			sum += int(pages[i])
		}
		return sum
	}
	first := read()
	if kb := residentKB(t, path); kb < size>>10 {
		t.Fatalf("%d KB after all was read", kb)
	}
	GiveBack()
	if kb := residentKB(t, path); kb != 0 {
		t.Errorf("%d KB are still held", kb)
	}
	if read() != first {
		t.Error("the file reads otherwise now")
	}
}

// residentKB returns how much of a mapped file is in the memory of this process.
func residentKB(t *testing.T, path string) (kb int) {
	t.Helper()
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(smaps), path+"\n")
	if !ok {
		t.Fatalf("%s is not mapped", path)
	}
	for line := range strings.Lines(after) {
		if n, ok := strings.CutPrefix(line, "Rss:"); ok {
			for _, c := range n {
				if c >= '0' && c <= '9' {
					kb = kb*10 + int(c-'0')
				}
			}
			return kb
		}
	}
	t.Fatal("smaps has no size for it")
	return 0
}
