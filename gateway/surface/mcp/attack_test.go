package mcp

import (
	"slices"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/protocol"
)

func TestLimitedTokenLearnsNothingOfOtherMachines(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		b.machines.set(protocol.NodeInfo{ID: "nas"}, protocol.NodeInfo{ID: "laptop"})
		w := watch(t, b, "limited", legacy, "fairlead://machines", "fairlead://machines/nas")
		list, err := w.ListResources(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var uris []string
		for _, r := range list.Resources {
			uris = append(uris, r.URI)
		}
		if want := []string{"fairlead://machines", "fairlead://machines/nas"}; !slices.Equal(uris, want) {
			t.Errorf("the list is %v, want %v", uris, want)
		}
		for _, uri := range []string{"fairlead://journal", "fairlead://machines/laptop"} {
			if got, err := w.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
				t.Errorf("%s: got %+v", uri, got.Contents[0])
			}
			if legacy && w.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}) == nil {
				t.Errorf("it can watch %s", uri)
			}
		}
		b.bus.Publish(node("laptop", true, 1))
		b.bus.Publish(call("a", protocol.CallDone))
		b.bus.Publish(node("nas", true, 1))
		got := []string{w.next(t), w.next(t)}
		if slices.Sort(got); !slices.Equal(got, uris) {
			t.Errorf("it is notified of %v", got)
		}
		if n := len(w.updated); n > 0 {
			t.Errorf("it is notified %d times too often", n)
		}
	})
}
