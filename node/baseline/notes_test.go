package baseline

import "testing"

func TestNotesNameProtectedFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{nil, ""},
		{[]string{".envrc"}, `.envrc is protected, because it starts programs later: ask for it with changes: [".envrc"] if the command must change it.`},
		{
			[]string{"a", "b", "c", "d"},
			`a, b, c and 1 more are protected, because they start programs later: ask for it with changes: ["a", "b", "c"] if the command must change it.`,
		},
	} {
		if got := ProtectedNote(c.paths); got != c.want {
			t.Errorf("%q: got %q, want %q", c.paths, got, c.want)
		}
	}
}

func TestFilesThatAreOpenToOthersAreDescribed(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]Exposed{
		"": {},
		"This command made /w/a, /w/b, /w/c and 1 more set-uid: whoever starts it has the rights of its owner or group. “chmod ug-s” undoes that.": {SetUID: []string{"/w/a", "/w/b", "/w/c", "/w/d"}},
		"This command made /w/id_rsa readable for every user of this machine. “chmod go-rwx” undoes that.":                                         {Readable: []string{"/w/id_rsa"}},
	} {
		if got := e.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
