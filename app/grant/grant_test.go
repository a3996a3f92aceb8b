package grant

import (
	"slices"
	"testing"

	"fairlead/gateway/protocol"
)

func TestEveryScopeOfAnAppIsOffered(t *testing.T) {
	var got []protocol.Scope
	for _, o := range offers {
		got = append(got, o.scope)
	}
	slices.Sort(got)
	if want := slices.Sorted(slices.Values(protocol.AppScopes)); !slices.Equal(got, want) {
		t.Errorf("offered scopes: got %q, want %q", got, want)
	}
}
