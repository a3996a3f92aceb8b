package tool

import (
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestKeepQuestionNamesTheFileOfALongPath(t *testing.T) {
	t.Parallel()
	b := protocol.PutBack{Command: "make", Changes: []protocol.ProtectedChange{{Path: "/home/ann/" + strings.Repeat("deep/", 20) + ".husky/pre-commit", Kind: protocol.ProtectedCreated}}}
	got := keepQuestion(b)
	if !strings.HasPrefix(got, "“make” created …/deep/") || !strings.HasSuffix(got, "/.husky/pre-commit") {
		t.Errorf(`got %q; want a text that begins with "“make” created …/deep/" and a text that ends with "/.husky/pre-commit"`, got)
	}
}

func TestKeepQuestionCountsFilesThatItDoesNotName(t *testing.T) {
	t.Parallel()
	b := protocol.PutBack{Command: "make", Changes: []protocol.ProtectedChange{{Path: "/w/.envrc", Kind: protocol.ProtectedCreated}, {Path: "/w/.npmrc", Kind: protocol.ProtectedCreated}}}
	for more, want := range map[int]string{0: "“make” created /w/.envrc, and 1 more file", 7: "“make” created /w/.envrc, and 8 more files: the answer is for all of them"} {
		b.More = more
		if got := keepQuestion(b); got != want {
			t.Errorf("%d more: got %q, want %q", more, got, want)
		}
	}
}
