package protocol

import (
	"slices"
	"testing"
)

func TestEveryGrantedScopeIsAPermissionInWords(t *testing.T) {
	t.Parallel()
	for _, s := range slices.Concat(ClientScopes, AppScopes) {
		if got := Permissions(s); len(got) != 1 || got[0] == "" {
			t.Errorf("%s: got %q, want one permission", s, got)
		}
	}
}
