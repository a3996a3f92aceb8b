package activity

import (
	"context"
	"fmt"
	"time"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

// View is what was loaded for the page of activity.
type View struct {
	Loaded  bool
	Problem string                     // reason why loading failed
	Calls   []protocol.AuditEntry      // today's calls with an effect, newest first
	More    bool                       // there were more calls today
	Usage   protocol.UsageReportResult // of the last days
}

// Model is the view model of the page of activity. Its methods are safe for concurrent use.
type Model struct{ feed.Loader[View] }

// maxActivity is the maximum number of calls on the page; activityDays is the number of days with
// their cost.
const (
	maxActivity  = 200
	activityDays = 30
)

// newModel returns an empty view model; Follow loads it.
func newModel(f *feed.Feed) *Model {
	m := &Model{}
	m.Loader = feed.Loader[View]{
		Value: feed.NewValue(View{}), Feed: f, Fetch: m.fetch, Problem: func(v *View) *string { return &v.Problem }, Interval: time.Minute,
		Facts: []feed.Fact{f.Changed, f.Status, f.Calls, f.Questions, f.Runs},
		Key: func(v feed.View) string {
			key := fmt.Sprint(v.Changed.Config, v.Status.Connected, len(v.Calls), v.Needs())
			for _, r := range v.Runs.List {
				key += fmt.Sprint(" ", r.RunID, r.Step, r.Over())
			}
			return key
		},
	}
	return m
}

func (m *Model) fetch(ctx context.Context) (func(*View), error) {
	now := time.Now()
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	calls, err := feed.Call(ctx, m.Feed, protocol.AuditList, protocol.AuditListParams{Kind: protocol.AuditCall, After: today.UnixMilli(), Limit: maxActivity})
	if err != nil {
		return nil, err
	}
	usage, err := feed.Call(ctx, m.Feed, protocol.UsageReport, protocol.UsageReportParams{Days: activityDays})
	if err != nil {
		return nil, err
	}
	return func(v *View) {
		*v = View{Loaded: true, Calls: calls.Entries, More: calls.More, Usage: usage}
	}, nil
}
