package exposure

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// Source states the ways in that a package owns. It fills in the warnings that only it knows:
// protocol.WarnNetwork and protocol.WarnNoExpiry.
type Source interface {
	Exposures(ctx context.Context) ([]protocol.Exposure, error)
}

// List is every way in.
type List []Source

// All returns every way in with its warnings: by kind, then those with the gravest warnings first.
func (l List) All(ctx context.Context) (protocol.ExposureListResult, error) {
	out := protocol.ExposureListResult{Exposures: []protocol.Exposure{}}
	now := time.Now()
	for _, source := range l {
		list, err := source.Exposures(ctx)
		if err != nil {
			return out, err
		}
		for _, e := range list {
			e.Warnings = warnings(e, now)
			out.Exposures = append(out.Exposures, e)
		}
	}
	slices.SortStableFunc(out.Exposures, func(a, b protocol.Exposure) int {
		return cmp.Or(slices.Index(protocol.ExposureKinds, a.Kind)-slices.Index(protocol.ExposureKinds, b.Kind), gravity(a)-gravity(b),
			strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)), strings.Compare(a.ID, b.ID))
	})
	return out, nil
}

// unusedAfter is the time without a use after which a way in is reported.
const unusedAfter = 30 * 24 * time.Hour

// warnings returns the warnings about e, the gravest first.
func warnings(e protocol.Exposure, now time.Time) []string {
	stated := e.Warnings
	if e.IsPublic {
		stated = append(stated, protocol.WarnPublic)
	}
	since := cmp.Or(e.LastUsedAt, e.CreatedAt)
	if since > 0 && !e.IsInUse && now.Sub(time.UnixMilli(since)) >= unusedAfter {
		stated = append(stated, protocol.WarnUnused)
	}
	list := []string{}
	for _, w := range protocol.ExposureWarnings {
		if slices.Contains(stated, w) {
			list = append(list, w)
		}
	}
	return list
}

// gravity orders by the gravest warning; the least value comes first.
func gravity(e protocol.Exposure) int {
	if len(e.Warnings) == 0 {
		return len(protocol.ExposureWarnings)
	}
	return slices.Index(protocol.ExposureWarnings, e.Warnings[0])
}
