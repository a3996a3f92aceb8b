package usage

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

var (
	paid  = protocol.ModelRef{Provider: "anthropic", ID: "large"}
	local = protocol.ModelRef{Provider: "ollama", ID: "small"}
)

func step(cost float64, tokens int64) protocol.Usage {
	return protocol.Usage{Input: tokens, Cost: &cost}
}

// meter returns a meter of a new store for a person in Kathmandu, 5:45 hours before UTC.
func meter(t *testing.T, b protocol.Budget) (*Meter, *store.DB) {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	cfg := config.Default()
	cfg.UserTimezone, cfg.Budget = "Asia/Kathmandu", b
	return New(db.Usage, func() config.Config { return cfg }), db
}

func add(t *testing.T, db *store.DB, m protocol.ModelRef, u protocol.Usage) {
	t.Helper()
	if err := db.Usage.Add(t.Context(), m, u); err != nil {
		t.Fatal(err)
	}
}

func TestDaysBeginAtThePersonsMidnight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock begins at 2000-01-01 00:00 UTC, 05:45 in Kathmandu
		m, db := meter(t, protocol.Budget{})
		add(t, db, paid, step(1, 10))
		time.Sleep(18*time.Hour + 14*time.Minute) // 23:59 in Kathmandu
		add(t, db, paid, step(2, 20))
		add(t, db, local, protocol.Usage{Output: 7})
		time.Sleep(time.Minute)
		add(t, db, local, protocol.Usage{CacheRead: 3})
		r, err := m.Report(t.Context(), protocol.UsageReportParams{})
		if err != nil {
			t.Fatal(err)
		}
		want := []protocol.UsageDay{
			{Day: "2000-01-02", Models: []protocol.ModelUsage{{Model: local, Steps: 1, Unpriced: 1, CacheRead: 3}}},
			{Day: "2000-01-01", Models: []protocol.ModelUsage{
				{Model: paid, Steps: 2, Input: 30, Cost: 3}, {Model: local, Steps: 1, Unpriced: 1, Output: 7},
			}},
		}
		if got := toJSON(t, r.Days); got != toJSON(t, want) {
			t.Errorf("got  %s\nwant %s", got, toJSON(t, want))
		}
		if today := (protocol.Spending{Tokens: 3}); r.Today != today {
			t.Errorf("today: got %+v, want %+v", r.Today, today)
		}
		if month := (protocol.Spending{Cost: 3, Tokens: 40}); r.Month != month {
			t.Errorf("this month: got %+v, want %+v", r.Month, month)
		}
		if r, err = m.Report(t.Context(), protocol.UsageReportParams{Days: 1}); err != nil || len(r.Days) != 1 {
			t.Errorf("one day: got %d days (%v), want 1", len(r.Days), err)
		}
	})
}

func TestReportRefusesTooManyDays(t *testing.T) {
	t.Parallel()
	m, _ := meter(t, protocol.Budget{})
	for _, days := range []int{-1, 401} {
		if _, err := m.Report(t.Context(), protocol.UsageReportParams{Days: days}); !errors.Is(err, protocol.ErrBadRequest) {
			t.Errorf("%d days: got %v, want %v", days, err, protocol.ErrBadRequest)
		}
	}
}

func TestBudgetStopsAModel(t *testing.T) {
	zero, two := 0.0, 2.0
	free := protocol.ModelInfo{PriceIn: &zero, PriceOut: &zero}
	priced := protocol.ModelInfo{PriceIn: &two, PriceOut: &two}
	for name, c := range map[string]struct {
		budget protocol.Budget
		info   protocol.ModelInfo
		want   string // part of the error; empty for none
	}{
		"no budget":                   {protocol.Budget{}, priced, ""},
		"within the daily budget":     {protocol.Budget{DailyUSD: 1.01}, priced, ""},
		"daily budget reached":        {protocol.Budget{DailyUSD: 1}, priced, "$1.00 of $1.00 used today"},
		"unknown price":               {protocol.Budget{DailyUSD: 1}, protocol.ModelInfo{}, "continue tomorrow"},
		"free model":                  {protocol.Budget{DailyUSD: 1, MonthlyUSD: 1}, free, ""},
		"within the monthly budget":   {protocol.Budget{MonthlyUSD: 3.5}, priced, ""},
		"monthly budget reached":      {protocol.Budget{MonthlyUSD: 3}, priced, "$3.00 of $3.00 used this month"},
		"within the tokens":           {protocol.Budget{DailyTokens: 101}, priced, ""},
		"tokens used up":              {protocol.Budget{DailyTokens: 100}, priced, "100 of 100 tokens used today"},
		"tokens used up, free model":  {protocol.Budget{DailyTokens: 100}, free, "tokens"},
		"tokens of yesterday are not": {protocol.Budget{DailyTokens: 300}, priced, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, db := meter(t, c.budget)
				time.Sleep(48 * time.Hour)
				add(t, db, paid, step(2, 500))
				time.Sleep(24 * time.Hour)
				add(t, db, paid, step(1, 100))
				err := m.Check(t.Context(), c.info)
				if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, protocol.ErrBudget) || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("got %v, want %q", err, c.want)
				}
			})
		})
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := protocol.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
