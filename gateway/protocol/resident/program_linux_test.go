package resident

import (
	"strings"
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
00920000-00930000 r--p 00000000 08:01 9   /lib/libc.so.6
Anonymous:             0 kB
00930000-00940000 r--p 00000000 00:00 0
Anonymous:             0 kB
`
	got := unchanged(strings.NewReader(smaps), "/opt/fairlead-desktop")
	if len(got) != 2 || got[0] != (span{0x400000, 0x500000}) || got[1] != (span{0x500000, 0x900000}) {
		t.Errorf("%x", got)
	}
	GiveBack() // the test goes on after it
}
