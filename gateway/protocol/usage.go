package protocol

// UsageReport returns the tokens and the cost of the last days (extension).
var UsageReport = Method[UsageReportParams, UsageReportResult]{"usage.report", ScopeRead, clients, extension}

// UsageReportParams chooses the days: the last Days of them, including today. 0 means 30; at most
// 400.
type UsageReportParams struct {
	Days int `json:"days,omitempty"`
}

// UsageReportResult lists the days on which models were used, the newest first, and the budgets.
// Days begin at midnight in the person's time zone.
type UsageReportResult struct {
	Days   []UsageDay `json:"days"`
	Today  Spending   `json:"today"`
	Month  Spending   `json:"month"`
	Budget Budget     `json:"budget"`
}

// UsageDay is the usage of one day, by model: the most expensive first, then the one with the most
// tokens.
type UsageDay struct {
	Day    string       `json:"day"` // YYYY-MM-DD
	Models []ModelUsage `json:"models"`
}

// ModelUsage is what one model used.
type ModelUsage struct {
	Model ModelRef `json:"model"`
	Steps int      `json:"steps"`
	// Unpriced is the number of steps whose cost is unknown. The cost does not contain them.
	Unpriced   int     `json:"unpricedSteps,omitempty"`
	Input      int64   `json:"input"`
	Output     int64   `json:"output"`
	CacheRead  int64   `json:"cacheRead"`
	CacheWrite int64   `json:"cacheWrite"`
	Cost       float64 `json:"costUsd"`
}

// Tokens returns the sum of the tokens.
func (m ModelUsage) Tokens() int64 { return m.Input + m.Output + m.CacheRead + m.CacheWrite }

// Spending is what was used since the beginning of the day or the month.
type Spending struct {
	Cost   float64 `json:"costUsd"`
	Tokens int64   `json:"tokens"`
}

// Budget limits the spending of all agents. 0 means no limit.
type Budget struct {
	DailyUSD    float64 `json:"dailyUsd" min:"0" max:"1000000"`
	MonthlyUSD  float64 `json:"monthlyUsd" min:"0" max:"1000000"`
	DailyTokens int     `json:"dailyTokens" min:"0" max:"1000000000000"`
}
