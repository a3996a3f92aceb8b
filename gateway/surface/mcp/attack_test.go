package mcp

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
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
				t.Errorf("%s: got %+v, want an error", uri, got.Contents[0])
			}
			if legacy && w.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}) == nil {
				t.Errorf("%s: got a subscription, want an error", uri)
			}
		}
		b.bus.Publish(node("laptop", true, 1))
		b.bus.Publish(call("a", protocol.CallDone))
		b.bus.Publish(node("nas", true, 1))
		got := []string{w.next(t), w.next(t)}
		if slices.Sort(got); !slices.Equal(got, uris) {
			t.Errorf("got notifications of %v, want %v", got, uris)
		}
		if n := len(w.updated); n > 0 {
			t.Errorf("got %d further notifications, want none", n)
		}
	})
}

// broken are skills that cannot be read.
type broken struct{}

func (broken) Usable(context.Context) ([]protocol.SkillStatusEntry, error) {
	return []protocol.SkillStatusEntry{{Name: "deploy"}}, nil
}

func (broken) Text(context.Context, string) (string, error) {
	return "", errors.New("open /home/ann/.local/share/fairlead/skills/deploy: permission denied")
}

func TestFailuresDoNotRevealGatewayFiles(t *testing.T) {
	before := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	defer slog.SetDefault(before)
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		b.mcp.o.Skills = broken{}
		b.mcp.o.Journal = journal{errors.New("read /home/ann/.local/share/fairlead/fairlead.db: disk I/O error")}
		s := b.connect(t, "all", nil, legacy)
		_, prompt := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "deploy"})
		_, document := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "fairlead://journal"})
		for _, err := range []error{prompt, document} {
			if err == nil || strings.Contains(err.Error(), "/home/ann") {
				t.Errorf("got error %v, want one without a path", err)
			}
		}
	})
}
