package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

func usageCommand(o *options) *cobra.Command {
	var p protocol.UsageReportParams
	cmd := command("usage", "Show the tokens and the cost of each model and day, and the budgets", cobra.NoArgs,
		onMethodWithNames(o, protocol.UsageReport, func([]string) (protocol.UsageReportParams, error) { return p, nil }, printUsage))
	cmd.Long = `Shows what models used, the newest day first. Days begin at midnight in your time zone.
The agent stops when a budget is used up: fairlead config set budget.dailyUsd 5`
	cmd.Flags().IntVar(&p.Days, "days", 30, "number of days, at most 400")
	return cmd
}

func printUsage(out io.Writer, r protocol.UsageReportResult, _ nameBook) error {
	var t table
	for _, d := range r.Days {
		for _, m := range d.Models {
			cost := format.Dollars(m.Cost)
			if m.Unpriced > 0 {
				cost += fmt.Sprintf(" (cost of %d steps unknown)", m.Unpriced)
			}
			t.row(d.Day, flat(m.Model.Provider+"/"+m.Model.ID), strconv.Itoa(m.Steps)+" steps", strconv.FormatInt(m.Tokens(), 10)+" tokens", cost)
		}
	}
	if err := t.print(out, "No model was used."); err != nil {
		return err
	}
	b := r.Budget
	return table{
		{"today", format.Dollars(r.Today.Cost) + limitText(b.DailyUSD, format.Dollars(b.DailyUSD)), strconv.FormatInt(r.Today.Tokens, 10) + limitText(float64(b.DailyTokens), strconv.Itoa(b.DailyTokens)) + " tokens"},
		{"this month", format.Dollars(r.Month.Cost) + limitText(b.MonthlyUSD, format.Dollars(b.MonthlyUSD)), strconv.FormatInt(r.Month.Tokens, 10) + " tokens"},
	}.print(out, "")
}

// limitText returns " of " and the limit, if there is one.
func limitText(limit float64, text string) string {
	if limit == 0 {
		return ""
	}
	return " of " + text
}
