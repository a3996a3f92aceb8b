package anthropic

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// limiter learns the longest answer that a server accepts if the known limit of a model is wrong.
type limiter struct{ most atomic.Int64 } // 0: no limit learned

var (
	// "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for …"
	tooMany = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`max_tokens: (\d+) > (\d+)`) })
	// "input length and `max_tokens` exceed context limit: 150000 + 64000 > 200000, decrease …"
	noRoom = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d+) \+ (\d+) > (\d+)`) })
)

// leastAnswer is the smallest answer, in tokens, for which a request is worth sending.
const leastAnswer = 1024

// learn parses the error of a request for an answer of up to asked tokens. fits is a length that
// the server would accept, 0 if the error contains none. A limit that applies to every request is
// stored.
func (l *limiter) learn(reason string, asked int64) (fits int64) {
	if m := tooMany().FindStringSubmatch(reason); m != nil {
		if most := number(m[2]); most >= leastAnswer && most < asked {
			l.most.Store(most)
			return most
		}
	}
	if m := noRoom().FindStringSubmatch(reason); m != nil && strings.Contains(reason, "max_tokens") {
		if room := number(m[3]) - number(m[1]); room >= leastAnswer && room < asked {
			return room
		}
	}
	return 0
}

func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
