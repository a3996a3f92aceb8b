package browse

import (
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/peer/diff"
	"fairlead/gateway/protocol"
)

func TestDiffOfAChangeIsLimited(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, content, why string
		isShown            bool
	}{
		{"too many lines", strings.Repeat("\n", diff.MaxLines+1), "too large", false},
		{"longer than a page", strings.Repeat("a line of text\n", diff.MaxPage/15+1), "Only the beginning", true},
		{"UTF-16", "\xff\xfet\x00\n\x00", "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b, dir := browser(t)
			put(t, filepath.Join(dir, "a.txt"), "one\n")
			writeAsAgent(t, b, "r1", "a.txt", tc.content)
			d, err := do[protocol.FilesDiffResult](t, b, protocol.ActDiff, of(changesOf(t, b)[0]))
			if err != nil || !strings.Contains(d.Why, tc.why) || (d.Why == "") != (tc.why == "") {
				t.Errorf("got why %q, error %v, want %q", d.Why, err, tc.why)
			}
			if isShown := d.Diff != ""; isShown != tc.isShown || len(d.Diff) > diff.MaxPage {
				t.Errorf("got %d bytes of a diff, want one: %v", len(d.Diff), tc.isShown)
			}
		})
	}
}
