package llm

import (
	"fmt"
	"strconv"
	"time"

	"fairlead/gateway/protocol"
)

// EstimateTokens estimates the tokens of messages: a quarter of their bytes, and a fixed number for
// an image. It is for messages that no provider has counted yet.
func EstimateTokens(messages []protocol.Message) int64 {
	var n int64
	for _, m := range messages {
		for _, b := range m.Content {
			n += int64(len(b.Text)+len(b.Thinking)+len(b.Arguments))/4 + 4
			if b.Type == protocol.BlockImage {
				n += 1500
			}
		}
	}
	return n
}

// Price sets the cost of u from a model's prices, if the provider reported none and the prices are
// known.
func Price(info protocol.ModelInfo, u *protocol.Usage) {
	if u.Cost != nil || info.PriceIn == nil || info.PriceOut == nil {
		return
	}
	at := func(p *float64, fallback float64) float64 {
		if p == nil {
			return fallback
		}
		return *p
	}
	cost := (float64(u.Input)**info.PriceIn + float64(u.Output)**info.PriceOut +
		float64(u.CacheRead)*at(info.PriceRead, *info.PriceIn) + float64(u.CacheWrite)*at(info.PriceWrite, *info.PriceIn)) / 1e6
	u.Cost = &cost
}

// Pause formats a duration for people: 0.5 s, 12 s, 3 min, 5 h. A long one is rounded up, because a
// request that comes too early is refused again.
func Pause(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
	case d < 100*time.Second:
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	case d < 100*time.Minute:
		return fmt.Sprintf("%d min", int((d + time.Minute - 1).Minutes()))
	}
	return fmt.Sprintf("%d h", int((d + time.Hour - 1).Hours()))
}
