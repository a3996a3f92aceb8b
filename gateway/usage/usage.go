// Package usage reports what models used, and stops runs at the person's budget.
package usage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Meter reads the usage and compares it with the budget. It is safe for concurrent use.
type Meter struct {
	store  *store.Usage
	config func() config.Config
}

// New returns a meter. config returns the current configuration.
func New(s *store.Usage, config func() config.Config) *Meter { return &Meter{s, config} }

const (
	defaultDays = 30
	maxDays     = 400
)

// Report returns the usage of the last days.
func (m *Meter) Report(ctx context.Context, p protocol.UsageReportParams) (protocol.UsageReportResult, error) {
	days := cmp.Or(p.Days, defaultDays)
	if days < 1 || days > maxDays {
		return protocol.UsageReportResult{}, protocol.ErrBadRequest.With(fmt.Sprintf("days must be between 1 and %d", maxDays))
	}
	cfg := m.config()
	now := time.Now().In(cfg.Zone())
	rows, err := m.store.List(ctx, dayStart(now, 1-days).UnixMilli(), dayStart(now, 1).UnixMilli())
	if err != nil {
		return protocol.UsageReportResult{}, err
	}
	out := protocol.UsageReportResult{Days: sumDays(rows, cfg.Zone()), Budget: cfg.Budget}
	if out.Today, err = m.spent(ctx, dayStart(now, 0)); err != nil {
		return out, err
	}
	out.Month, err = m.spent(ctx, monthStart(now))
	return out, err
}

// sumDays adds up rows, which are in order of time, by day and model.
func sumDays(rows []store.UsageRow, zone *time.Location) []protocol.UsageDay {
	days := []protocol.UsageDay{}
	for _, r := range slices.Backward(rows) {
		name := time.UnixMilli(r.At).In(zone).Format(time.DateOnly)
		if len(days) == 0 || days[len(days)-1].Day != name {
			days = append(days, protocol.UsageDay{Day: name})
		}
		day := &days[len(days)-1]
		ref := protocol.ModelRef{Provider: r.Provider, ID: r.Model}
		i := slices.IndexFunc(day.Models, func(u protocol.ModelUsage) bool { return u.Model == ref })
		if i < 0 {
			i = len(day.Models)
			day.Models = append(day.Models, protocol.ModelUsage{Model: ref})
		}
		u := &day.Models[i]
		u.Steps += r.Steps
		u.Unpriced += r.Unpriced
		u.Input += r.Input
		u.Output += r.Output
		u.CacheRead += r.CacheRead
		u.CacheWrite += r.CacheWrite
		u.Cost += r.Cost
	}
	for _, d := range days {
		slices.SortFunc(d.Models, func(a, b protocol.ModelUsage) int {
			return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(b.Tokens(), a.Tokens()), cmp.Compare(a.Model.ID, b.Model.ID))
		})
	}
	return days
}

func (m *Meter) spent(ctx context.Context, since time.Time) (s protocol.Spending, err error) {
	s.Cost, s.Tokens, err = m.store.Spent(ctx, since.UnixMilli())
	return s, err
}

// Check fails with [protocol.ErrBudget] when a budget is used up. Only the limit of tokens applies to
// a model that costs nothing.
func (m *Meter) Check(ctx context.Context, info protocol.ModelInfo) error {
	cfg := m.config()
	b := cfg.Budget
	if b == (protocol.Budget{}) {
		return nil
	}
	now := time.Now().In(cfg.Zone())
	today, err := m.spent(ctx, dayStart(now, 0))
	if err != nil {
		return err
	}
	if b.DailyTokens > 0 && today.Tokens >= int64(b.DailyTokens) {
		return budgetError(fmt.Sprint(today.Tokens), fmt.Sprintf("%d tokens", b.DailyTokens), "today", "tomorrow")
	}
	if isFree(info) {
		return nil
	}
	if b.DailyUSD > 0 && today.Cost >= b.DailyUSD {
		return budgetError(format.Dollars(today.Cost), format.Dollars(b.DailyUSD), "today", "tomorrow")
	}
	if b.MonthlyUSD <= 0 {
		return nil
	}
	month, err := m.spent(ctx, monthStart(now))
	if err == nil && month.Cost >= b.MonthlyUSD {
		err = budgetError(format.Dollars(month.Cost), format.Dollars(b.MonthlyUSD), "this month", "next month")
	}
	return err
}

// isFree reports whether a model is known to cost nothing.
func isFree(info protocol.ModelInfo) bool {
	return info.PriceIn != nil && info.PriceOut != nil && *info.PriceIn == 0 && *info.PriceOut == 0
}

func budgetError(used, limit, period, next string) error {
	return protocol.ErrBudget.With(fmt.Sprintf("Budget reached: %s of %s used %s. Raise the budget in the settings, or continue %s.", used, limit, period, next))
}

// dayStart returns midnight of the day that is a number of days after t's.
func dayStart(t time.Time, days int) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day()+days, 0, 0, 0, 0, t.Location())
}

func monthStart(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, t.Location())
}
